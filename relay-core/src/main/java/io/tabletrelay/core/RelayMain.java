package io.tabletrelay.core;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.client.RefusedException;
import io.tabletrelay.core.plugin.Subcommands;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * The command line {@code relay}.
 *
 * <p>Exit codes, of every command:
 *
 * <ul>
 *   <li>0: done; a relay that was told to stop has stopped in order
 *   <li>1: failed; the one line on standard error says why
 *   <li>2: the command line makes no sense
 *   <li>3: the relay cannot start: a taken port, a locked data folder
 *   <li>4: the relay refused, and would again
 *   <li>5: the relay cannot be reached, or said "later" until the time was up
 *   <li>6: check-data found damage
 * </ul>
 */
@Command(
        name = "relay",
        description = "A crash-safe relay from event sources to WebSocket consumers.",
        mixinStandardHelpOptions = true,
        versionProvider = RelayMain.Version.class,
        scope = ScopeType.INHERIT,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done; a relay that was told to stop has stopped in order",
            "1:failed; the line on standard error says why",
            "2:the command line makes no sense",
            "3:the relay cannot start: a taken port, a locked data folder",
            "4:the relay refused, and would again",
            "5:the relay cannot be reached, or said \"later\" until the time was up",
            "6:check-data found damage"
        },
        footer = "%nEach option can be given as an environment variable: RELAY_WS_PORT for --ws-port.",
        subcommands = {
            ServeCommand.class,
            PublishCommand.class,
            ImportCommand.class,
            ConsumeCommand.class,
            PipeCommand.class,
            SubscriptionCommand.class,
            DlqCommand.class,
            ExplainCommand.class,
            CheckDataCommand.class
        })
public final class RelayMain implements Runnable {
    static final int FAILED = 1;
    static final int USAGE = 2;
    static final int CANNOT_START = 3;
    static final int REFUSED = 4;
    static final int UNREACHABLE = 5;
    static final int DAMAGED = 6;

    private static final Logger LOG = LoggerFactory.getLogger(RelayMain.class);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    RelayMain() {}

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        int exitCode =
                commandLine(System.getenv()).setOut(StandardOutput.writer()).execute(arguments);
        System.exit(exitCode);
    }

    static CommandLine commandLine(Map<String, String> environment) {
        CommandLine relay = new CommandLine(new RelayMain());
        for (Object command : Subcommands.load(RelayMain.class.getClassLoader())) {
            relay.addSubcommand(command);
        }
        return relay.setDefaultValueProvider(new EnvironmentDefaults(environment))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(PipeName.class, RelayMain::pipeName)
                .setExecutionStrategy(RelayMain::runAndPrint)
                .setParameterExceptionHandler(RelayMain::misused)
                .setExecutionExceptionHandler((e, command, parsed) -> failed(e, command.getErr()));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    private static PipeName pipeName(String text) {
        try {
            return new PipeName(text);
        } catch (RelayException badName) {
            throw new TypeConversionException(badName.reason());
        }
    }

    /** What a command printed is part of what it did: a result that nobody got is a failure. */
    private static int runAndPrint(ParseResult parsed) {
        int exitCode = new RunLast().execute(parsed);
        CommandLine relay = parsed.commandSpec().commandLine();
        if (!relay.getOut().checkError()) {
            return exitCode;
        }
        relay.getErr().println("relay: cannot print the result: standard output is closed or full");
        return exitCode == 0 ? FAILED : exitCode;
    }

    private static int misused(ParameterException e, String[] arguments) {
        CommandLine command = e.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        command.getErr().println("relay: " + e.getMessage() + "; see " + name + " --help");
        return USAGE;
    }

    private static int failed(Exception e, PrintWriter err) {
        err.println("relay: " + message(e));
        LOG.debug("command ended by an exception", e);
        return exitCode(e);
    }

    private static String message(Exception e) {
        boolean expected = e instanceof CommandException
                || e instanceof RelayException
                || e instanceof IOException
                || e instanceof IllegalArgumentException;
        return expected && e.getMessage() != null ? e.getMessage() : "internal error: " + e;
    }

    private static int exitCode(Exception e) {
        if (e instanceof CommandException ended) {
            return ended.exitCode();
        }
        if (e instanceof RefusedException refused) {
            return refused.retryable() ? UNREACHABLE : REFUSED;
        }
        if (e instanceof RelayException relay && relay.code() == ErrorCode.CANNOT_START) {
            return CANNOT_START;
        }
        return e instanceof IllegalArgumentException ? USAGE : FAILED;
    }

    /** The version that the build wrote into the jar. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"relay " + text()};
        }

        static String text() {
            @Nullable String version = RelayMain.class.getPackage().getImplementationVersion();
            return version == null ? "development" : version;
        }
    }
}
