package io.tabletrelay.core;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.pipe.StateChange;
import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code relay pipe}: what can be done with a pipe itself.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(
        name = "pipe",
        description = "Makes pipes, shows them, changes their state and deletes them.",
        subcommands = CreatePipeCommand.class)
final class PipeCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    @Command(name = "ls", description = "Lists all pipes; opens none for that.")
    int list(@Mixin ServerOption server, @Mixin JsonOption json) throws InterruptedException {
        ArrayNode all = JsonOption.object().putArray("pipes");
        try {
            String after = "";
            while (after != null) {
                JsonNode page = server.http().pipes(after);
                page.path("pipes").forEach(all::add);
                after = page.path("next").textValue();
            }
        } catch (IOException unreachable) {
            throw new CommandException(RelayMain.UNREACHABLE, String.valueOf(unreachable.getMessage()));
        }
        String lines = StreamSupport.stream(all.spliterator(), false)
                .map(PipeLine::of)
                .collect(Collectors.joining(System.lineSeparator()));
        json.print(out(), all, lines.isEmpty() ? "there is no pipe yet" : lines);
        return 0;
    }

    @Command(name = "info", description = "Shows what one pipe is and how far its consumer is.")
    int info(
            @Mixin ServerOption server,
            @Mixin JsonOption json,
            @Parameters(paramLabel = "NAME", description = "the pipe") PipeName pipe)
            throws InterruptedException {
        try {
            JsonNode status = server.http().pipe(pipe.value());
            json.print(out(), status, status.toPrettyString());
            return 0;
        } catch (IOException unreachable) {
            throw new CommandException(RelayMain.UNREACHABLE, String.valueOf(unreachable.getMessage()));
        }
    }

    @Command(name = "pause", description = "Nothing is sent any more; publishes are taken, and acks count.")
    int pause(@Mixin StateOptions asked) throws InterruptedException {
        return asked.change(StateChange.PAUSE.word(), out());
    }

    @Command(name = "resume", description = "What is paused is sent again.")
    int resume(@Mixin StateOptions asked) throws InterruptedException {
        return asked.change(StateChange.RESUME.word(), out());
    }

    @Command(
            name = "drain",
            description = "No publish is taken any more; the pipe is closed once all that it has is settled.")
    int drain(@Mixin StateOptions asked) throws InterruptedException {
        return asked.change(StateChange.DRAIN.word(), out());
    }

    @Command(name = "close", description = "Closes a draining pipe though not all is settled; what is left stays.")
    int close(@Mixin StateOptions asked) throws InterruptedException {
        return asked.change(StateChange.CLOSE.word(), out());
    }

    @Command(name = "open", description = "A closed pipe takes publishes and sends again.")
    int open(@Mixin StateOptions asked) throws InterruptedException {
        return asked.change(StateChange.OPEN.word(), out());
    }

    @Command(name = "reopen", description = "Has a failed pipe opened now and not after its wait.")
    int reopen(@Mixin StateOptions asked) throws InterruptedException {
        return asked.change("reopen", out());
    }

    @Command(
            name = "delete",
            description =
                    "Deletes a pipe with all that is in it. A pipe made under this name later goes on above its ids.")
    int delete(
            @Mixin StateOptions asked,
            @Option(names = "--yes", description = "do not ask; needed where there is no terminal") boolean yes)
            throws InterruptedException {
        if (!yes && !isSure(asked.pipe())) {
            throw new CommandException(RelayMain.FAILED, "not deleted: pipe=" + asked.pipe());
        }
        return asked.delete(out());
    }

    /** Newer Java versions have a console without a terminal too: what is read there must be the name as well. */
    @SuppressWarnings("SystemConsoleNull")
    private boolean isSure(PipeName pipe) {
        Console console = System.console();
        if (console == null) {
            throw new ParameterException(
                    spec.commandLine(), "deleting cannot be undone: pipe=" + pipe + "; give --yes if it is meant");
        }
        String answer = console.readLine("delete pipe %s and all that is in it? type its name: ", pipe);
        return pipe.value().equals(answer);
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }
}
