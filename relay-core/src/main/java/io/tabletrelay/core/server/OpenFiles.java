package io.tabletrelay.core.server;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many sockets fit under the system's limit of open files, with enough of it left for the pipes.
 *
 * <p>Threading: without state.
 */
final class OpenFiles {
    private static final Logger LOG = LoggerFactory.getLogger(OpenFiles.class);
    /** Half of the limit; the other half is for pipes, HTTP and the JVM itself. */
    private static final int SHARE = 2;

    private OpenFiles() {}

    /** As many connections as configured, or as fit; says so if those are fewer. */
    static int connections(int configured) {
        long limit = limit();
        int fitting = fitting(configured, limit);
        if (fitting < configured) {
            LOG.warn(
                    "fewer connections are taken than configured: max-connections={}, taken={}, openFilesLimit={}; "
                            + "raise the limit of open files (ulimit -n)",
                    configured,
                    fitting,
                    limit);
        }
        return fitting;
    }

    static int fitting(int configured, long limit) {
        return (int) Math.max(1, Math.min(configured, limit / SHARE));
    }

    private static long limit() {
        long limit = ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? unix.getMaxFileDescriptorCount()
                : -1;
        return limit < 0 ? Long.MAX_VALUE : limit;
    }
}
