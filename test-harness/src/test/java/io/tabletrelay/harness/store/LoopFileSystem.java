package io.tabletrelay.harness.store;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * An ext4 file system in a file, mounted through a loop device, whose power can be cut. What an earlier build left
 * mounted there is unmounted first, and this one when the JVM ends in any way that it can see.
 *
 * <p>Threading: used by the test's thread; the shutdown hook's closes it too.
 */
final class LoopFileSystem implements AutoCloseable {
    private static final int UNMOUNT_TRIES = 100;

    private final Path image;
    private final Path mountPoint;
    private final String options;
    private final Thread hook = new Thread(this::unmountAnyhow, "unmount");

    private LoopFileSystem(Path home, String options) {
        this.image = home.resolve("image.ext4");
        this.mountPoint = home.resolve("mount");
        this.options = options;
    }

    /** Skips the test, saying why, where file systems cannot be mounted. */
    static void assumeMountable(Path home) throws IOException {
        Assumptions.assumeTrue(
                System.getProperty("os.name").equals("Linux"), "power cuts need Linux and its loop devices");
        Assumptions.assumeTrue(Command.succeeds("perl", "-e", "1"), "power cuts need perl, for one ioctl");
        Assumptions.assumeTrue(
                Command.succeeds("unshare", "-m", "true"), "power cuts need root: no mount namespace can be made");
        try (LoopFileSystem tried = make(home, "", 16)) {
            tried.mount();
        } catch (IOException e) {
            Assumptions.abort("power cuts need a loop device with ext4: " + e.getMessage());
        }
    }

    /** Makes a file system of this size; it is not mounted yet. */
    static LoopFileSystem make(Path home, String options, long mebibytes) throws IOException {
        LoopFileSystem fileSystem = new LoopFileSystem(home, options);
        Files.createDirectories(fileSystem.mountPoint);
        fileSystem.endStrangers();
        fileSystem.unmountAnyhow();
        Files.deleteIfExists(fileSystem.image);
        try (RandomAccessFile file = new RandomAccessFile(fileSystem.image.toFile(), "rw")) {
            file.setLength(mebibytes << 20);
        }
        Command.run("mkfs.ext4", "-q", "-F", "-m", "0", fileSystem.image.toString());
        Runtime.getRuntime().addShutdownHook(fileSystem.hook);
        return fileSystem;
    }

    Path mountPoint() {
        return mountPoint;
    }

    /** Mounts it; after a cut this is where the journal is replayed. */
    void mount() throws IOException {
        String all = options.isEmpty() ? "loop" : "loop," + options;
        Command.run("mount", "-o", all, image.toString(), mountPoint.toString());
    }

    /** Whoever used it must be gone. When this returns the kernel knows nothing more of it. */
    void unmount() throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                Command.run("umount", mountPoint.toString());
                break;
            } catch (IOException e) {
                rest(tries, e);
            }
        }
        for (int tries = 1; !Command.run("losetup", "-j", image.toString()).isBlank(); tries++) {
            rest(tries, new IOException("loop device is not free: image=" + image));
        }
    }

    private static void rest(int tries, IOException cause) throws IOException {
        if (tries == UNMOUNT_TRIES) {
            throw cause;
        }
        try {
            TimeUnit.MILLISECONDS.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw cause;
        }
    }

    /** Relays that outlived the JVM that started them. */
    private void endStrangers() {
        ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").contains(mountPoint + "/"))
                .forEach(ProcessHandle::destroyForcibly);
    }

    private void unmountAnyhow() {
        if (Command.succeeds("mountpoint", "-q", mountPoint.toString())
                && !Command.succeeds("umount", "-l", mountPoint.toString())) {
            System.out.println("not unmounted: " + mountPoint);
        }
    }

    /** The image stays. */
    @Override
    public void close() {
        unmountAnyhow();
        Runtime.getRuntime().removeShutdownHook(hook);
    }
}
