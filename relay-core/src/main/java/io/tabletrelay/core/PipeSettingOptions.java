package io.tabletrelay.core;

import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options that are settings of a pipe: of one that is made, or, to {@code serve}, of all that have not chosen others. */
final class PipeSettingOptions {
    @Option(
            names = "--" + PipeSettings.DURABILITY,
            paramLabel = "LEVEL",
            description = "what a confirmed event survives: process, the death of the relay; disk, a power cut too"
                    + " (default: process)")
    private @Nullable String durability;

    @Option(
            names = "--" + PipeSettings.MAX_BYTES,
            paramLabel = "SIZE",
            description = "most bytes of log files a pipe may have, 4MiB or more; 0 is no limit (default: 0)")
    private @Nullable String maxBytes;

    @Option(
            names = "--" + PipeSettings.WHEN_FULL,
            paramLabel = "POLICY",
            description = "what happens to a publish that finds no room: reject, block, drop-oldest (default: reject)")
    private @Nullable String whenFull;

    @Option(
            names = "--" + PipeSettings.BLOCK_TIMEOUT,
            paramLabel = "TIME",
            description = "longest that a publish waits for room with block (default: 30s)")
    private @Nullable String blockTimeout;

    @Option(
            names = "--" + PipeSettings.ON_DAMAGE,
            paramLabel = "POLICY",
            description = "what happens where stored events cannot be read: skip, they become dead letters; stop, the"
                    + " pipe fails (default: skip)")
    private @Nullable String onDamage;

    @Option(
            names = "--" + PipeSettings.RETAIN,
            paramLabel = "LIMITS",
            description =
                    "how long settled events are kept: acked, no longer than they must; or an age, a size, or both,"
                            + " like 7d,50GiB (default: acked)")
    private @Nullable String retain;

    /** Those that were given, by name. */
    Map<String, String> values() {
        Map<String, String> values = new LinkedHashMap<>();
        put(values, PipeSettings.DURABILITY, durability);
        put(values, PipeSettings.MAX_BYTES, maxBytes);
        put(values, PipeSettings.WHEN_FULL, whenFull);
        put(values, PipeSettings.BLOCK_TIMEOUT, blockTimeout);
        put(values, PipeSettings.ON_DAMAGE, onDamage);
        put(values, PipeSettings.RETAIN, retain);
        return values;
    }

    /** Throws {@link ParameterException} for a value that there is not. */
    static PipeSettings checked(Map<String, String> values, CommandLine command) {
        try {
            return new PipeSettings(values);
        } catch (RelayException e) {
            throw new ParameterException(command, e.reason(), e);
        }
    }

    private static void put(Map<String, String> values, String name, @Nullable String value) {
        if (value != null) {
            values.put(name, value);
        }
    }
}
