package io.tabletrelay.core;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.api.PipeName;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code relay explain}: where an event is, and why.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(name = "explain", description = "Tells where an event is for each subscription, and what keeps it there.")
final class ExplainCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    private final ServerOption server = new ServerOption();

    @Mixin
    private final JsonOption json = new JsonOption();

    @Option(names = "--subscription", defaultValue = "", description = "for this subscription alone")
    private String subscription = "";

    @Parameters(index = "0", paramLabel = "PIPE", description = "the pipe")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private PipeName pipe;

    @Parameters(index = "1", paramLabel = "ID", description = "the event's id")
    private long id;

    @Override
    public Integer call() throws InterruptedException {
        try {
            JsonNode answer = server.http().explain(pipe.value(), id, subscription);
            json.print(spec.commandLine().getOut(), answer, answer.path("text").asText());
            return 0;
        } catch (IOException unreachable) {
            throw new CommandException(RelayMain.UNREACHABLE, String.valueOf(unreachable.getMessage()));
        }
    }
}
