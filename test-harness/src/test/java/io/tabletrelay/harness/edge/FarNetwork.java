package io.tabletrelay.harness.edge;

import java.io.IOException;
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
    static FarNetwork open() throws IOException {
        FarNetwork network = new FarNetwork();
        Assumptions.assumeTrue(
                tried("netns", "add", network.name), "no network namespace can be made: not root, or no ip");
        run("link", "add", network.name, "type", "veth", "peer", "name", "far", "netns", network.name);
        run("addr", "add", HERE + "/30", "dev", network.name);
        run("link", "set", network.name, "up");
        run("-n", network.name, "addr", "add", THERE + "/30", "dev", "far");
        run("-n", network.name, "link", "set", "far", "up");
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

    void cut() throws IOException {
        run("link", "set", name, "down");
    }

    private static void run(String... arguments) throws IOException {
        if (!tried(arguments)) {
            throw new IOException("ip failed: arguments=" + List.of(arguments));
        }
    }

    private static boolean tried(String... arguments) {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.onExit().orTimeout(30, TimeUnit.SECONDS).join();
            return process.exitValue() == 0;
        } catch (IOException notFound) {
            return false;
        }
    }

    @Override
    public void close() {
        for (String what : List.of("link", "netns")) {
            if (!tried(what, "del", name)) {
                System.out.println("not removed: " + what + " " + name);
            }
        }
    }
}
