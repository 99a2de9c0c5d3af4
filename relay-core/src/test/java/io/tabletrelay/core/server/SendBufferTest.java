package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.protocol.FrameCodec;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SendBufferTest {
    private static final int MAX_UNSENT_BYTES = 1000;
    private static final ByteBuffer EIGHT_BYTES = ByteBuffer.allocate(8);

    private final Deque<ByteBuffer> queue = new ArrayDeque<>();
    private final AtomicInteger demands = new AtomicInteger();
    private final SendBuffer out = new SendBuffer(queue, demands::incrementAndGet, MAX_UNSENT_BYTES);

    private int queuedBytes() {
        return queue.stream().mapToInt(ByteBuffer::remaining).sum();
    }

    @Test
    void eventsOfOneTurnLeaveTogether() {
        for (int id = 1; id <= 10; id++) {
            out.event(id, EIGHT_BYTES);
        }
        boolean nothingBefore = queue.isEmpty();

        out.flush();

        assertThat(nothingBefore).isTrue();
        assertThat(queue).hasSize(1);
        assertThat(queuedBytes()).isEqualTo(10 * FrameCodec.eventFrameBytes(8));
        assertThat(demands).hasValue(1);
    }

    @Test
    void aFlushWithoutEventsWakesNobody() {
        out.flush();

        assertThat(demands).hasValue(0);
    }

    @Test
    void noGatheredBufferIsLargerThan64KiBButALargeEventHasOneOfItsOwn() {
        for (int id = 1; id <= 5_000; id++) {
            out.event(id, ByteBuffer.allocate(100));
        }
        out.event(5_001, ByteBuffer.allocate(200_000));
        out.event(5_002, EIGHT_BYTES);
        out.flush();

        assertThat(queue)
                .filteredOn(buffer -> buffer.capacity() > 65_536)
                .singleElement()
                .satisfies(large -> assertThat(large.remaining()).isEqualTo(FrameCodec.eventFrameBytes(200_000)));
        assertThat(queue).hasSizeLessThan(20);
    }

    @Test
    void aControlFrameLeavesBehindWhatWasGivenBefore() {
        out.event(1, EIGHT_BYTES);
        out.control(FrameCodec.text("READY"));

        assertThat(queue).hasSize(2);
        assertThat(queue.getLast()).isEqualTo(FrameCodec.text("READY"));
    }

    @Test
    void whatIsGivenIsCountedUpToTheEndOfEachEvent() {
        out.control(FrameCodec.text("READY"));
        long first = out.event(1, EIGHT_BYTES);
        out.control(FrameCodec.pong(new byte[3]));
        long second = out.event(2, EIGHT_BYTES);
        out.flush();

        assertThat(first).isEqualTo(7 + 18);
        assertThat(second).isEqualTo(7 + 18 + 5 + 18).isEqualTo(queuedBytes());
        assertThat(out.unsentBytes()).isEqualTo(second);
    }

    @Test
    void roomIsSaidOnceAndOnlyAfterTheLimitWasMet() {
        out.event(1, ByteBuffer.allocate(900));
        boolean belowLimit = out.writable();
        out.event(2, ByteBuffer.allocate(900));
        boolean overLimit = out.writable();
        long unsent = out.unsentBytes();

        assertThat(belowLimit).isTrue();
        assertThat(overLimit).isFalse();
        assertThat(out.written((int) unsent - 501)).isFalse();
        assertThat(out.written(1)).isTrue();
        assertThat(out.written(1)).isFalse();
        assertThat(out.writable()).isTrue();
    }

    @Test
    void nothingLeavesBehindTheLastFrame() {
        out.event(1, EIGHT_BYTES);
        boolean first = out.end(FrameCodec.close(1000, ""));
        long given = out.event(2, EIGHT_BYTES);
        out.flush();

        assertThat(first).isTrue();
        assertThat(out.end(FrameCodec.close(1001, ""))).isFalse();
        assertThat(out.control(FrameCodec.text("READY"))).isFalse();
        assertThat(queue).hasSize(2);
        assertThat(queue.getLast()).isEqualTo(FrameCodec.close(1000, ""));
        assertThat(given).isEqualTo(queuedBytes());
    }
}
