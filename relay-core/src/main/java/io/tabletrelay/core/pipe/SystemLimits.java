package io.tabletrelay.core.pipe;

import com.sun.management.UnixOperatingSystemMXBean;
import io.tabletrelay.core.config.RelayConfig;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * What the system lets a process have, and how many open pipes fit into that.
 *
 * <p>Threading: immutable.
 *
 * @param openFiles file handles
 * @param mappings mapped pieces of files
 */
record SystemLimits(long openFiles, long mappings) {
    private static final Logger log = LoggerFactory.getLogger(SystemLimits.class);
    private static final Path MAPPINGS_LIMIT = Path.of("/proc/sys/vm/max_map_count");

    /** A log that is written, its older segments that are read, with Chronicle's metadata each; a settled file. */
    private static final int FILES_A_PIPE = 6;

    private static final int MAPPINGS_A_PIPE = 8;
    /** So few that pipes in use may have to wait for each other. */
    private static final int FEW = 200;
    /** The other half is for connections. */
    private static final int SHARE_OF_FILES = 2;
    /** The JVM, its libraries, the doors. */
    private static final int OTHER_FILES = 128;

    private static final int OTHER_MAPPINGS = 2_048;

    static SystemLimits ofThisProcess() {
        long files = ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? unix.getMaxFileDescriptorCount()
                : -1;
        return new SystemLimits(files < 0 ? Long.MAX_VALUE : files, mostMappings());
    }

    private static long mostMappings() {
        try (BufferedReader in = Files.newBufferedReader(MAPPINGS_LIMIT)) { // the kernel gives it away in one read only
            return Long.parseLong(Objects.requireNonNullElse(in.readLine(), ""));
        } catch (IOException | NumberFormatException notLinux) {
            return Long.MAX_VALUE;
        }
    }

    /** Places for as many pipes as configured, or as fit; says so if those are fewer, and warns if so many were asked for. */
    OpenPlaces places(int maxOpenPipes) {
        int most = fitting();
        if (most < maxOpenPipes) {
            boolean asked = maxOpenPipes != RelayConfig.DEFAULT_MAX_OPEN_PIPES || most < FEW;
            log.atLevel(asked ? Level.WARN : Level.INFO)
                    .log(
                            "fewer pipes are open at a time than configured: max-open-pipes={}, open={}, openFilesLimit={},"
                                    + " mappingsLimit={}; raise the limit of open files (ulimit -n)",
                            maxOpenPipes,
                            most,
                            openFiles,
                            mappings);
        }
        return new OpenPlaces(Math.min(maxOpenPipes, most), most);
    }

    private int fitting() {
        long byFiles = (openFiles / SHARE_OF_FILES - OTHER_FILES) / FILES_A_PIPE;
        long byMappings = (mappings - OTHER_MAPPINGS) / MAPPINGS_A_PIPE;
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, Math.min(byFiles, byMappings)));
    }
}
