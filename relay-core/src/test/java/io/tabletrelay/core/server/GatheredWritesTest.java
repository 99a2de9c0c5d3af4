package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.PipeName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GatheredWritesTest {
    private static final int EVENTS = 10_000;

    private final AtomicInteger writes = new AtomicInteger();
    private final StubPipe pipe = new StubPipe(new PipeName("p"));
    private final RelayServer server =
            new RelayServer(EdgeRig.PATIENT, name -> pipe, new StubIntake(), EdgeEvents.NONE, this::nanoTime);

    GatheredWritesTest() {
        server.start();
    }

    /** The time is asked for at each write to a socket. */
    private long nanoTime() {
        if (StackWalker.getInstance()
                .walk(frames ->
                        frames.limit(8).anyMatch(frame -> frame.getMethodName().equals("bytesWritten")))) {
            writes.incrementAndGet();
        }
        return System.nanoTime();
    }

    @AfterEach
    void stop() {
        server.stop(Duration.ZERO);
    }

    @Test
    void manyEventsOfOneTurnLeaveInOneWriteAndArriveAsOneFrameEach() throws IOException {
        int written = writesFor(id -> id % 100 == 0);

        assertThat(written).isLessThan(EVENTS / 50);
    }

    @Test
    void turnsThatFindTheSocketBusyLeaveTogether() throws IOException {
        int written = writesFor(id -> true);

        assertThat(written).isLessThan(EVENTS / 5);
    }

    @Test
    void anEventAloneLeavesAtOnce() throws IOException {
        try (RawClient client = RawClient.bound(server.port(), "p")) {
            for (int id = 1; id <= 100; id++) {
                pipe.link().sink.deliver(id, 0, 1, ByteBuffer.allocate(100), Map.of());
                pipe.link().sink.flush();

                assertThat(client.expect(RawClient.BINARY).eventId()).isEqualTo(id);
            }
        }
    }

    private int writesFor(IntPredicate turnEndsAfter) throws IOException {
        try (RawClient client = RawClient.bound(server.port(), "p")) {
            StubPipe.Link link = pipe.link();
            writes.set(0);
            for (int id = 1; id <= EVENTS; id++) {
                link.sink.deliver(id, 0, 1, ByteBuffer.allocate(100), Map.of());
                if (turnEndsAfter.test(id)) {
                    link.sink.flush();
                }
            }
            for (int id = 1; id <= EVENTS; id++) {
                RawClient.Frame event = client.expect(RawClient.BINARY);
                assertThat(event.eventId()).isEqualTo(id);
                assertThat(event.payload()).hasSize(Long.BYTES + 100);
            }
            client.sync();
            System.out.println("writes=" + writes + ", frames=" + EVENTS);
            return writes.get();
        }
    }
}
