package io.tabletrelay.core.delivery;

/**
 * An event that was given up.
 *
 * <p>Threading: immutable.
 *
 * @param number the dead letter's own number in its pipe, from 1
 * @param eventId the event's id
 * @param reason {@code max-deliveries}, {@code terminated} or {@code damaged}
 * @param failedDeliveries how often it was tried in vain
 * @param lastError what the last failure was
 * @param atMillis when it was given up, ms since the epoch
 * @param payloadBytes size of the payload kept with it
 * @param subscription for which it was given up
 */
public record DeadLetter(
        long number,
        long eventId,
        String reason,
        int failedDeliveries,
        String lastError,
        long atMillis,
        int payloadBytes,
        String subscription) {}
