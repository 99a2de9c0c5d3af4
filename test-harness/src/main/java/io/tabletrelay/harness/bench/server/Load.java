package io.tabletrelay.harness.bench.server;

/**
 * What all variants are given alike.
 *
 * @param eventBytes payload of one event
 * @param windowEvents most events in flight
 */
record Load(int eventBytes, int windowEvents) {}
