package io.tabletrelay.api;

/**
 * A confirmation: the events are kept at the pipe's durability and will be delivered until they are settled.
 *
 * <p>Threading: immutable.
 *
 * @param firstId id of the first event stored, 0 if the serializer made none of the bytes
 * @param lastId id of the last event stored, 0 if there is none
 * @param duplicate true if this producer's sequence had been stored before; the ids are those given then, or 0 if it
 *     is so long ago that they are no longer remembered
 * @param durability what the events survive from now on
 */
public record Appended(long firstId, long lastId, boolean duplicate, Durability durability) {}
