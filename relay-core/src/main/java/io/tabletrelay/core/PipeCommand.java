package io.tabletrelay.core;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code relay pipe}: what can be done with a pipe itself.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(name = "pipe", description = "Makes pipes.", subcommands = CreatePipeCommand.class)
final class PipeCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command given");
    }
}
