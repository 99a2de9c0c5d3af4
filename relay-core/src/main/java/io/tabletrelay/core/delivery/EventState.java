package io.tabletrelay.core.delivery;

/**
 * Where one event is.
 *
 * <p>Threading: immutable.
 *
 * @param state {@code unknown} (no such id yet), {@code void}, {@code undelivered}, {@code in-flight}, {@code waiting} (for its
 *     redelivery) or {@code settled}
 * @param failedDeliveries negative acks and timeouts so far, while it is not settled
 * @param lastReason why it failed last, empty if it did not
 */
public record EventState(long id, String state, int failedDeliveries, String lastReason) {}
