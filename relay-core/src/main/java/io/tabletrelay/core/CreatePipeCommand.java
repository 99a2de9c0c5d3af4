package io.tabletrelay.core;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.tablet.TabletFamily;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code relay pipe create}: makes a pipe whose settings shall be others than those of one that its first use makes.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(
        name = "create",
        description = "Makes a pipe with settings. A pipe without any is made by its first use as well.")
final class CreatePipeCommand implements Callable<Integer> {
    @Mixin
    private final ServerOption server = new ServerOption();

    @Option(
            names = "--tablet-format",
            paramLabel = "FAMILY",
            description = "which libraries can read the pipe's tablets: v1, those of IoTDB 1.x; v2, those of 2.x"
                    + " (default: v2)")
    private @Nullable String tabletFormat;

    @Mixin
    private final PipeSettingOptions chosen = new PipeSettingOptions();

    @Parameters(paramLabel = "NAME", description = "the pipe")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private PipeName pipe;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        Map<String, String> settings = chosen.values();
        if (tabletFormat != null) {
            settings.put(TabletFamily.OPTION, tabletFormat);
        }
        boolean created =
                create(PipeSettingOptions.checked(settings, spec.commandLine()).values());
        spec.commandLine()
                .getOut()
                .println((created ? "created" : "was there with these settings") + ": pipe=" + pipe + ", settings="
                        + settings);
        return 0;
    }

    private boolean create(Map<String, String> settings) throws InterruptedException {
        try {
            return server.http().createPipe(pipe.value(), settings);
        } catch (IOException unreachable) {
            throw new CommandException(RelayMain.UNREACHABLE, String.valueOf(unreachable.getMessage()));
        }
    }
}
