package io.tabletrelay.core.store.folder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * Names the run of the operating system that this process is in. Another name than last time: the machine was down in
 * between, and what was not forced to disk may be gone.
 */
public final class BootId {
    private static final Path LINUX = Path.of("/proc/sys/kernel/random/boot_id");

    private BootId() {}

    /** Where the kernel does not tell, each call answers a new name: a needless gap in the ids rather than an id reused. */
    public static String current() {
        return read(LINUX);
    }

    static String read(Path source) {
        try {
            String id = Files.readString(source).strip();
            return id.isEmpty() ? unknown() : id;
        } catch (IOException e) {
            return unknown();
        }
    }

    private static String unknown() {
        return "unknown-" + UUID.randomUUID();
    }
}
