package io.tabletrelay.harness.bench.client;

/**
 * What a server process has used so far.
 *
 * @param allocatedBytes by threads that live still
 * @param residentKib all of its resident memory
 * @param anonymousKib the part of it that no file backs
 */
public record Usage(long cpuNanos, long allocatedBytes, long residentKib, long anonymousKib) {}
