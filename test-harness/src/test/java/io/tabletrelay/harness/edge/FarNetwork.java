package io.tabletrelay.harness.edge;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * A network namespace with one link to this one, which can be taken down: what runs in it then falls silent, with no
 * FIN and no reset. Its name and addresses are made from the process id, so that two builds on a host get one each.
 *
 * <p>Threading: used by the test's thread.
 */
final class FarNetwork implements AutoCloseable {
    /** 198.18.0.0/15 is set apart for tests of networks; a link takes four addresses of it. */
    private static final int LINKS = 1 << 15;

    private final String name;
    private final String here;
    private final String there;
    private boolean linked;

    private FarNetwork(long pid) {
        name = "relay" + pid;
        int link = (int) (pid % LINKS);
        String addresses = "198." + (18 + (link >> 14)) + "." + (link >> 6 & 0xff) + ".";
        here = addresses + (4 * (link & 0x3f) + 1);
        there = addresses + (4 * (link & 0x3f) + 2);
    }

    /** Skips the test, saying why, where no namespace can be made or linked. */
    static FarNetwork open() {
        FarNetwork network = new FarNetwork(ProcessHandle.current().pid());
        Assumptions.assumeTrue(
                tried("netns", "add", network.name), "no network namespace can be made: not root, or no ip");
        if (!network.link()) {
            network.close();
            Assumptions.abort("no link to a network namespace can be made: no veth?");
        }
        return network;
    }

    private boolean link() {
        linked = tried("link", "add", name, "type", "veth", "peer", "name", "far", "netns", name);
        return linked
                && tried("addr", "add", here + "/30", "dev", name)
                && tried("link", "set", name, "up")
                && tried("-n", name, "addr", "add", there + "/30", "dev", "far")
                && tried("-n", name, "link", "set", "far", "up");
    }

    /** This side's address. */
    String here() {
        return here;
    }

    /** The command that starts the one behind it over there. */
    List<String> launcher() {
        return List.of("ip", "netns", "exec", name);
    }

    void cut() throws IOException {
        if (!tried("link", "set", name, "down")) {
            throw new IOException("link could not be taken down: name=" + name);
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
        for (String what : linked ? List.of("link", "netns") : List.of("netns")) {
            if (!tried(what, "del", name)) {
                System.out.println("not removed: " + what + " " + name);
            }
        }
    }
}
