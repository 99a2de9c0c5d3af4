package io.tabletrelay.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchFrameTest {
    private static final byte[] NO_HEADERS = BatchFrame.headers(Map.of());

    private final BatchFrame batch = new BatchFrame();

    private void put(long id, int payloadBytes) {
        batch.put(id, 5, 1, NO_HEADERS, ByteBuffer.allocate(payloadBytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 101, 102, 65_511, 65_512, 262_120, 1_000_000})
    void theFramesHeaderIsTheShortestOneAndRightBeforeTheRecords(int payloadBytes) {
        put(7, payloadBytes);
        int announced = batch.frameBytes();

        ByteBuffer frame = batch.take();

        int content = 24 + payloadBytes;
        int header = content < 126 ? 2 : content < 65_536 ? 4 : 10;
        assertThat(frame.remaining()).isEqualTo(announced).isEqualTo(header + content);
        assertThat(frame.get(frame.position())).isEqualTo((byte) 0x82);
        assertThat(frame.get(frame.position() + 1) & 0x7F).isEqualTo(header == 2 ? content : header == 4 ? 126 : 127);
        assertThat(frame.getLong(frame.position() + header)).isEqualTo(7);
        assertThat(batch.isEmpty()).isTrue();
        assertThat(batch.frameBytes()).isZero();
    }

    @Test
    void aRecordHasItsFieldsInOrder() {
        ByteBuffer payload = ByteBuffer.wrap("xabcx".getBytes(StandardCharsets.UTF_8), 1, 3);
        batch.put(1, 1_700_000_000_000L, 70_000, BatchFrame.headers(Map.of("k", "v")), payload);

        ByteBuffer frame = batch.take();

        frame.position(frame.position() + 2);
        assertThat(frame.getLong()).isEqualTo(1);
        assertThat(frame.getLong()).isEqualTo(1_700_000_000_000L);
        assertThat(frame.getShort() & 0xFFFF).isEqualTo(65_535);
        assertThat(frame.getShort()).isEqualTo((short) 1);
        assertThat(frame.getInt()).isEqualTo(3);
        assertThat(frame.getInt()).isEqualTo(9);
        assertThat(StandardCharsets.UTF_8.decode(frame).toString()).isEqualTo("{\"k\":\"v\"}abc");
        assertThat(payload.remaining()).isEqualTo(3);
    }

    @Test
    void recordsGatherUpTo256KiBOrTheirNumber() {
        for (int id = 1; id <= 255; id++) {
            assertThat(batch.takes(NO_HEADERS, 1000, 1_000)).isTrue();
            put(id, 1000);
        }

        assertThat(batch.takes(NO_HEADERS, 1000, 1_000)).isTrue(); // 256 × 1,024
        assertThat(batch.takes(NO_HEADERS, 1001, 1_000)).isFalse();
        assertThat(batch.takes(NO_HEADERS, 0, 255)).isFalse();
        assertThat(batch.take().remaining()).isEqualTo(10 + 255 * 1024);
        assertThat(batch.takes(NO_HEADERS, 1 << 20, 1)).isTrue();
    }

    @Test
    void aProducersFrameIsReadAndOneThatIsNoneIsRefused() throws ProtocolException {
        byte[] json = "{\"a\":\"b\"}".getBytes(StandardCharsets.UTF_8);
        byte[] frame = ByteBuffer.allocate(8 + 4 + json.length + 2)
                .putLong(3)
                .putInt(json.length)
                .put(json)
                .array();

        SourceFrame read = SourceFrame.decode(frame, true);

        assertThat(read.sequence()).isEqualTo(3);
        assertThat(read.headers()).containsExactly(Map.entry("a", "b"));
        assertThat(read.bytes().remaining()).isEqualTo(2);
        assertThat(SourceFrame.decode(frame, false).bytes().remaining()).isEqualTo(frame.length - 8);
        for (int length = 0; length < 8 + 4 + json.length; length++) {
            byte[] cut = Arrays.copyOf(frame, length);
            assertThat(catchThrowableOfType(ProtocolException.class, () -> SourceFrame.decode(cut, true)))
                    .as("cut at %s", length)
                    .isNotNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"[]", "null", "7", "{\"a\":1}", "{\"a\":null}", "{}x", "", "{"})
    void headersThatAreNoObjectOfTextsAreRefused(String json) {
        byte[] block = json.getBytes(StandardCharsets.UTF_8);
        byte[] frame = ByteBuffer.allocate(12 + block.length)
                .putLong(1)
                .putInt(block.length)
                .put(block)
                .array();

        ProtocolException e = catchThrowableOfType(ProtocolException.class, () -> SourceFrame.decode(frame, true));

        assertThat(e == null).isEqualTo(json.isEmpty()); // no block at all is no headers
    }
}
