package io.tabletrelay.harness.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a command of the operating system to its end.
 *
 * <p>Threading: immutable.
 */
final class Command {
    private static final long SECONDS = 60;

    private Command() {}

    /** Returns what it printed; throws with that if it did not end well. */
    static String run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.onExit().orTimeout(SECONDS, TimeUnit.SECONDS).join();
        if (process.exitValue() != 0) {
            throw new IOException("command ended badly: command=" + List.of(command) + ", exitCode="
                    + process.exitValue() + ", printed=" + printed.strip());
        }
        return printed;
    }

    /** Whether it could be run and ended well. */
    static boolean succeeds(String... command) {
        try {
            run(command);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
