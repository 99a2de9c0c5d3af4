package io.tabletrelay.core;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.client.RelayHttp;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code relay subscription}: who reads a pipe, and how far each is.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(name = "subscription", description = "Shows, makes, resets and deletes the subscriptions of a pipe.")
final class SubscriptionCommand implements Runnable {
    private static final String START_HELP =
            "where it begins: earliest, latest, an event's id, or a time like 2026-01-31T12:00:00Z"
                    + " (default: ${DEFAULT-VALUE})";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    @Command(name = "ls", description = "Lists the subscriptions of a pipe.")
    int list(@Mixin Common common, @Parameters(paramLabel = "PIPE", description = "the pipe") PipeName pipe)
            throws InterruptedException {
        JsonNode answer = common.ask(http -> http.subscriptions(pipe.value()));
        PrintWriter out = spec.commandLine().getOut();
        if (common.json) {
            out.println(answer);
        } else {
            answer.path("subscriptions").forEach(each -> out.println(line(each)));
        }
        return 0;
    }

    @Command(name = "create", description = "Makes a subscription; one that is there stays as it is.")
    int create(
            @Mixin Common common,
            @Option(names = "--start", defaultValue = "earliest", description = START_HELP) String start,
            @Parameters(paramLabel = "PIPE", description = "the pipe") PipeName pipe,
            @Parameters(paramLabel = "NAME", description = "the subscription") String name)
            throws InterruptedException {
        print(common, common.ask(http -> http.createSubscription(pipe.value(), name, start)));
        return 0;
    }

    @Command(name = "reset", description = "Begins a subscription anew; it must have no consumer.")
    int reset(
            @Mixin Common common,
            @Option(names = "--start", defaultValue = "earliest", description = START_HELP) String start,
            @Parameters(paramLabel = "PIPE", description = "the pipe") PipeName pipe,
            @Parameters(paramLabel = "NAME", description = "the subscription") String name)
            throws InterruptedException {
        print(common, common.ask(http -> http.resetSubscription(pipe.value(), name, start)));
        return 0;
    }

    @Command(name = "delete", description = "Deletes a subscription; it must have no consumer.")
    int delete(
            @Mixin Common common,
            @Parameters(paramLabel = "PIPE", description = "the pipe") PipeName pipe,
            @Parameters(paramLabel = "NAME", description = "the subscription") String name)
            throws InterruptedException {
        JsonNode answer = common.ask(http -> http.deleteSubscription(pipe.value(), name));
        spec.commandLine()
                .getOut()
                .println(common.json ? answer.toString() : "deleted: pipe=" + pipe + ", subscription=" + name);
        return 0;
    }

    private void print(Common common, JsonNode answer) {
        spec.commandLine().getOut().println(common.json ? answer.toString() : line(answer));
    }

    private static String line(JsonNode subscription) {
        StringBuilder line = new StringBuilder("subscription=")
                .append(subscription.path("name").asText());
        for (String field :
                new String[] {"start", "floor", "deliveredUpTo", "backlog", "inFlight", "waiting", "consumers"}) {
            line.append(", ")
                    .append(field)
                    .append('=')
                    .append(subscription.path(field).asLong());
        }
        return line.toString();
    }

    /**
     * What each of the commands can be told.
     *
     * <p>Threading: confined to the thread that runs the command.
     */
    static final class Common {
        @Mixin
        private final ServerOption server = new ServerOption();

        @Option(names = "--json", description = "print the relay's answer as JSON")
        private boolean json;

        /** A question to a relay. */
        interface Question {
            JsonNode ask(RelayHttp http) throws IOException, InterruptedException;
        }

        JsonNode ask(Question question) throws InterruptedException {
            try {
                return question.ask(server.http());
            } catch (IOException unreachable) {
                throw new CommandException(RelayMain.UNREACHABLE, String.valueOf(unreachable.getMessage()));
            }
        }
    }
}
