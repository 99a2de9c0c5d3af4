package io.tabletrelay.core;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.api.PipeName;
import java.io.IOException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * A pipe and what is wanted of its state.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
final class StateOptions {
    @Mixin
    private final ServerOption server = new ServerOption();

    @Option(
            names = "--if-version",
            paramLabel = "N",
            description = "only if the pipe's state has still this version (relay pipe info shows it)")
    private @Nullable Long ifVersion;

    @Mixin
    private final JsonOption json = new JsonOption();

    @Parameters(paramLabel = "NAME", description = "the pipe")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private PipeName pipe;

    PipeName pipe() {
        return pipe;
    }

    /** Has the state changed and prints what it is then. */
    int change(String verb, PrintWriter out) throws InterruptedException {
        try {
            JsonNode status = server.http().changePipe(pipe.value(), verb, ifVersion);
            json.print(out, status, PipeLine.of(status));
            return 0;
        } catch (IOException unreachable) {
            throw new CommandException(RelayMain.UNREACHABLE, String.valueOf(unreachable.getMessage()));
        }
    }

    int delete(PrintWriter out) throws InterruptedException {
        try {
            server.http().deletePipe(pipe.value(), ifVersion);
            json.print(
                    out, JsonOption.object().put("name", pipe.value()).put("deleted", true), "deleted: pipe=" + pipe);
            return 0;
        } catch (IOException unreachable) {
            throw new CommandException(RelayMain.UNREACHABLE, String.valueOf(unreachable.getMessage()));
        }
    }
}
