package io.tabletrelay.harness;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.LongFunction;

/**
 * What a {@link TestProducer} publishes.
 *
 * @param producer its name in the pipe
 * @param type the source type
 * @param bodies makes the body of each sequence, the same at each call
 * @param asIs true if the body is what consumers get, as one event
 * @param last the sequence to end with
 * @param pause how long to rest after each publish
 */
public record Feed(
        String pipe,
        String producer,
        String type,
        LongFunction<ByteBuffer> bodies,
        boolean asIs,
        long last,
        Duration pause) {}
