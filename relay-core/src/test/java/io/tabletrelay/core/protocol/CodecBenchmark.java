package io.tabletrelay.core.protocol;

import java.nio.ByteBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** One ack read, one event of 1 KiB written. */
@State(Scope.Thread)
public class CodecBenchmark {
    private final ByteBuffer payload = ByteBuffer.allocateDirect(1_024);
    private final ByteBuffer gathered = ByteBuffer.allocate(64 << 10);
    private String line = "ACK:1234567";
    private long id;

    @Benchmark
    public Line ackLine() throws ProtocolException {
        return LineCodec.decode(line);
    }

    @Benchmark
    public ByteBuffer eventFrame() {
        if (gathered.remaining() < FrameCodec.eventFrameBytes(payload.remaining())) {
            gathered.clear();
        }
        FrameCodec.putEvent(gathered, ++id, payload);
        return gathered;
    }
}
