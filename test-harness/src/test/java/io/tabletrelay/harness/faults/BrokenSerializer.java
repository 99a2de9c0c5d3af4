package io.tabletrelay.harness.faults;

import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.PayloadSink;
import io.tabletrelay.api.serializer.SourceEvent;
import java.util.concurrent.locks.LockSupport;

/**
 * Passes bytes on, unless they begin with a byte that tells it how to break.
 *
 * <p>Threading: immutable.
 */
public final class BrokenSerializer implements EventSerializer {
    static final byte NO_CLASS = 1;
    static final byte STACK = 2;
    static final byte NULL = 3;
    /** Takes its time, and is good. */
    public static final byte SLOW = 4;

    private static final long SLOW_NANOS = 50_000_000;

    @Override
    public int spiVersion() {
        return SPI_VERSION;
    }

    @Override
    public String sourceType() {
        return "broken";
    }

    @Override
    public boolean threadSafe() {
        return true;
    }

    @Override
    public void serialize(SourceEvent event, PayloadSink sink) {
        switch (event.bytes().get(event.bytes().position())) {
            case NO_CLASS -> throw new NoClassDefFoundError("com/example/Missing");
            case STACK -> throw new StackOverflowError();
            case NULL -> throw new NullPointerException();
            case SLOW -> {
                LockSupport.parkNanos(SLOW_NANOS);
                sink.add("application/octet-stream", event.bytes().slice());
            }
            default -> sink.add("application/octet-stream", event.bytes().slice());
        }
    }
}
