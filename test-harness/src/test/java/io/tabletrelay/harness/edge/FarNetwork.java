package io.tabletrelay.harness.edge;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * A network namespace with one link to this one, which can be taken down: what runs in it then falls silent, with no FIN
 * and no reset.
 *
 * <p>Threading: used by the test's thread.
 */
final class FarNetwork implements AutoCloseable {
    private static final String HERE = "10.231.77.1";
    private static final String THERE = "10.231.77.2";

    private final String name = "relay" + ProcessHandle.current().pid() % 100_000;

    private FarNetwork() {}

    /** Skips the test, saying why, where no namespace can be made. */
    static FarNetwork open() throws IOException, InterruptedException {
        FarNetwork network = new FarNetwork();
        Assumptions.assumeTrue(
                network.tried("netns", "add", network.name), "no network namespace can be made: not root, or no ip");
        network.run("link", "add", network.name, "type", "veth", "peer", "name", "far", "netns", network.name);
        network.run("addr", "add", HERE + "/30", "dev", network.name);
        network.run("link", "set", network.name, "up");
        network.run("-n", network.name, "addr", "add", THERE + "/30", "dev", "far");
        network.run("-n", network.name, "link", "set", "far", "up");
        return network;
    }

    /** This side's address. */
    String here() {
        return HERE;
    }

    /** The command that starts the one behind it over there. */
    List<String> launcher() {
        return List.of("ip", "netns", "exec", name);
    }

    void cut() throws IOException, InterruptedException {
        run("link", "set", name, "down");
    }

    private void run(String... arguments) throws IOException, InterruptedException {
        if (!tried(arguments)) {
            throw new IOException("ip failed: arguments=" + List.of(arguments));
        }
    }

    private boolean tried(String... arguments) throws InterruptedException {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(30, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException notFound) {
            return false;
        }
    }

    /** The link goes with its namespace. */
    @Override
    public void close() throws IOException {
        try {
            tried("netns", "del", name);
            tried("link", "del", name);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("network namespace may be left: name=" + name);
        }
    }
}
