package io.tabletrelay.core.config;

/**
 * What the consumers of all pipes may have at one time.
 *
 * @param unwrittenBytes most bytes given to connections and not yet written to their sockets
 * @param inFlightEvents most events in flight
 */
public record TransferQuotaConfig(long unwrittenBytes, int inFlightEvents) {
    public static final TransferQuotaConfig DEFAULT = new TransferQuotaConfig(256L << 20, 1_000_000);

    public TransferQuotaConfig {
        if (unwrittenBytes < 1) {
            throw new IllegalArgumentException("max-unwritten-bytes=" + unwrittenBytes + " must be at least 1");
        }
        if (inFlightEvents < 1) {
            throw new IllegalArgumentException("max-in-flight=" + inFlightEvents + " must be at least 1");
        }
    }
}
