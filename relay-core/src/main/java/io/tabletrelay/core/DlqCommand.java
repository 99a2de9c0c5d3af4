package io.tabletrelay.core;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.client.RelayHttp;
import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code relay dlq}: events that were given up, and what is done with them.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(name = "dlq", description = "Shows, redrives and purges the dead letters of a pipe.")
final class DlqCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    @Command(name = "ls", description = "Lists the dead letters of a pipe.")
    int list(
            @Mixin ServerOption server,
            @Mixin JsonOption json,
            @Parameters(paramLabel = "PIPE", description = "the pipe") PipeName pipe)
            throws InterruptedException {
        ArrayNode all = JsonOption.object().putArray("deadLetters");
        List<String> lines = new ArrayList<>();
        try {
            long after = 0;
            while (after >= 0) {
                JsonNode page = server.http().deadLetters(pipe.value(), after);
                page.path("deadLetters").forEach(letter -> {
                    all.add(letter);
                    lines.add(line(letter));
                });
                after = page.path("next").asLong(-1);
            }
        } catch (IOException unreachable) {
            throw unreachable(unreachable);
        }
        json.print(
                out(), all, lines.isEmpty() ? "there is no dead letter" : String.join(System.lineSeparator(), lines));
        return 0;
    }

    @Command(name = "show", description = "Shows one dead letter with its event.")
    int show(
            @Mixin ServerOption server,
            @Mixin JsonOption json,
            @Parameters(paramLabel = "PIPE", description = "the pipe") PipeName pipe,
            @Parameters(paramLabel = "NUMBER", description = "the dead letter's number") long number)
            throws InterruptedException {
        try {
            JsonNode letter = server.http().deadLetter(pipe.value(), number);
            json.print(out(), letter, letter.toPrettyString());
            return 0;
        } catch (IOException unreachable) {
            throw unreachable(unreachable);
        }
    }

    @Command(
            name = "redrive",
            description =
                    "Appends the events anew, each for the subscription that gave it up, and once for each letter.")
    int redrive(
            @Mixin ServerOption server,
            @Mixin JsonOption json,
            @Mixin Selection which,
            @Parameters(paramLabel = "PIPE", description = "the pipe") PipeName pipe,
            @Parameters(paramLabel = "NUMBER", arity = "0..*", description = "these dead letters") List<Long> numbers)
            throws InterruptedException {
        Map<String, String> query = which.query(spec, numbers);
        ObjectNode sum = sum(http -> http.redrive(pipe.value(), query), server, "redriven", "passed");
        json.print(out(), sum, "redriven: pipe=" + pipe + ", letters=" + sum.get("redriven") + passed(sum));
        return 0;
    }

    private static String passed(ObjectNode sum) {
        return sum.path("passed").asLong() == 0 ? "" : ", without an event=" + sum.get("passed");
    }

    @Command(name = "purge", description = "Deletes dead letters for ever.")
    int purge(
            @Mixin ServerOption server,
            @Mixin JsonOption json,
            @Mixin Selection which,
            @Option(names = "--yes", description = "do not ask; needed where there is no terminal") boolean yes,
            @Parameters(paramLabel = "PIPE", description = "the pipe") PipeName pipe,
            @Parameters(paramLabel = "NUMBER", arity = "0..*", description = "these dead letters") List<Long> numbers)
            throws InterruptedException {
        Map<String, String> query = which.query(spec, numbers);
        if (!yes && !isSure(pipe)) {
            throw new CommandException(RelayMain.FAILED, "not purged: pipe=" + pipe);
        }
        ObjectNode sum = sum(http -> http.purge(pipe.value(), query), server, "purged");
        json.print(out(), sum, "purged: pipe=" + pipe + ", letters=" + sum.get("purged"));
        return 0;
    }

    /** Newer Java versions have a console without a terminal too: what is read there must be the name as well. */
    @SuppressWarnings("SystemConsoleNull")
    private boolean isSure(PipeName pipe) {
        Console console = System.console();
        if (console == null) {
            throw new ParameterException(
                    spec.commandLine(), "purging cannot be undone: pipe=" + pipe + "; give --yes if it is meant");
        }
        String answer = console.readLine("purge these dead letters of pipe %s? type its name: ", pipe);
        return pipe.value().equals(answer);
    }

    private interface Step {
        JsonNode ask(RelayHttp http) throws IOException, InterruptedException;
    }

    /** Asks until there is no more to do, and adds up what was done. */
    private static ObjectNode sum(Step step, ServerOption server, String... fields) throws InterruptedException {
        ObjectNode sum = JsonOption.object();
        try {
            for (boolean more = true; more; ) {
                JsonNode answer = step.ask(server.http());
                for (String field : fields) {
                    sum.put(field, sum.path(field).asLong() + answer.path(field).asLong());
                }
                more = answer.path("more").asBoolean();
            }
            return sum;
        } catch (IOException unreachable) {
            throw unreachable(unreachable);
        }
    }

    private static CommandException unreachable(IOException why) {
        return new CommandException(RelayMain.UNREACHABLE, String.valueOf(why.getMessage()));
    }

    private static String line(JsonNode letter) {
        StringJoiner line = new StringJoiner(", ");
        for (String field :
                new String[] {"number", "eventId", "subscription", "reason", "failedDeliveries", "lastError"}) {
            line.add(field + "=" + letter.path(field).asText());
        }
        return line.toString();
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }

    /**
     * Which dead letters are meant.
     *
     * <p>Threading: confined to the thread that runs the command.
     */
    static final class Selection {
        @Option(names = "--all", description = "all dead letters of the pipe")
        private boolean all;

        @Option(names = "--reason", defaultValue = "", description = "those given up for it, e.g. max-deliveries")
        private String reason = "";

        @Option(names = "--subscription", defaultValue = "", description = "those that this subscription gave up")
        private String subscription = "";

        Map<String, String> query(CommandSpec spec, List<Long> numbers) {
            Map<String, String> query = new LinkedHashMap<>();
            if (numbers != null && !numbers.isEmpty()) {
                query.put(
                        "numbers",
                        String.join(",", numbers.stream().map(String::valueOf).toList()));
            }
            if (!reason.isEmpty()) {
                query.put("reason", reason);
            }
            if (!subscription.isEmpty()) {
                query.put("subscription", subscription);
            }
            if (all == !query.isEmpty()) {
                throw new ParameterException(
                        spec.commandLine(),
                        "which dead letters? give --all alone, or numbers, --reason or --subscription");
            }
            return all ? Map.of("all", "true") : query;
        }
    }
}
