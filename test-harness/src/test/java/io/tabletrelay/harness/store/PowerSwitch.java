package io.tabletrelay.harness.store;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Stands ready to cut one mounted file system's power, and to write some of what is dirty back before: a process of its
 * own, so that a cut takes no longer than one call.
 *
 * <p>Threading: used by the test's thread.
 */
final class PowerSwitch implements AutoCloseable {
    private static final String SCRIPT = "power.pl";

    private final Process process;
    private final BufferedReader answers;

    private PowerSwitch(Process process) {
        this.process = process;
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    static PowerSwitch at(Path mountPoint, Path home) throws IOException {
        Path script = home.resolve(SCRIPT);
        try (InputStream source = Objects.requireNonNull(PowerSwitch.class.getResourceAsStream(SCRIPT))) {
            Files.copy(source, script, StandardCopyOption.REPLACE_EXISTING);
        }
        return new PowerSwitch(new ProcessBuilder("perl", script.toString(), mountPoint.toString())
                .redirectErrorStream(true)
                .start());
    }

    /** Writes back what this way chooses by the seed. */
    void writeBack(WriteBack way, int seed) throws IOException {
        if (way != WriteBack.NOTHING) {
            tell(way.command() + " " + seed);
        }
    }

    /** When this returns, nothing more reaches the disk. */
    void cut() throws IOException {
        tell("cut 0");
        process.onExit().join();
    }

    private void tell(String command) throws IOException {
        OutputStream commands = process.getOutputStream();
        commands.write((command + "\n").getBytes(StandardCharsets.UTF_8));
        commands.flush();
        StringBuilder other = new StringBuilder();
        for (@Nullable String line = answers.readLine(); line != null; line = answers.readLine()) {
            if (line.equals("done")) {
                return;
            }
            other.append(line).append('\n');
        }
        throw new IOException("no power could be cut: command=" + command + ", printed=" + other);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /** What reaches the disk just before a cut, beside what was forced to it. */
    enum WriteBack {
        NOTHING,
        SCATTER,
        FILES,
        COMMIT;

        String command() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
