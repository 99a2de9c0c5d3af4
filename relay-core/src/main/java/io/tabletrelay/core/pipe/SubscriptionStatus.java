package io.tabletrelay.core.pipe;

/**
 * A subscription at one moment.
 *
 * <p>Threading: immutable.
 *
 * @param start its first event: every id below counts as settled
 * @param createdMillis ms since the epoch; 0: not known
 * @param floor highest id up to which every id is settled
 * @param deliveredUpTo highest id delivered so far
 * @param settled settled ids up to the pipe's last, void ones not counted
 * @param backlog events that are not settled
 * @param inFlight delivered, not settled, on the wire or at a consumer
 * @param waiting to be delivered again, now or later
 * @param consumers how many connections are bound
 */
public record SubscriptionStatus(
        String name,
        long start,
        long createdMillis,
        long floor,
        long deliveredUpTo,
        long settled,
        long backlog,
        int inFlight,
        int waiting,
        int consumers) {}
