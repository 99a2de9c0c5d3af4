package io.tabletrelay.api.serializer;

/**
 * What a serializer may know about where it runs.
 *
 * <p>Threading: immutable.
 *
 * @param maxPayloadBytes the largest payload the relay stores
 * @param maxPayloads the most payloads that one source event may become
 */
public record SerializerContext(int maxPayloadBytes, int maxPayloads) {}
