package io.tabletrelay.api.client;

/**
 * An event is durable at the pipe's level.
 *
 * @param epoch of the pipe
 * @param sequence the event's number at its producer; without a producer name it counts on one connection only
 */
public record Stored(long epoch, long sequence) {}
