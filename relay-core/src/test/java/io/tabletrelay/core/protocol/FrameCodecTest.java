package io.tabletrelay.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FrameCodecTest {
    @ParameterizedTest
    @CsvSource({
        "0,     8208",
        "117,   827D",
        "118,   827E007E",
        "65527, 827EFFFF",
        "65528, 827F0000000000010000",
    })
    void theLengthTakesTheShortestForm(int payloadBytes, String header) {
        ByteBuffer target = ByteBuffer.allocate(FrameCodec.eventFrameBytes(payloadBytes));

        FrameCodec.putEvent(target, 0x0102030405060708L, ByteBuffer.allocate(payloadBytes));

        assertThat(target.hasRemaining()).isFalse();
        assertThat(HexFormat.of().formatHex(target.array())).startsWithIgnoringCase(header + "0102030405060708");
    }

    @Test
    void thePayloadIsCopiedFromPositionToLimitAndStaysAsItWas() {
        ByteBuffer payload = ByteBuffer.wrap(new byte[] {9, 1, 2, 3, 9}, 1, 3);
        ByteBuffer target = ByteBuffer.allocate(100).position(5);

        FrameCodec.putEvent(target, 7, payload);

        assertThat(target.position()).isEqualTo(5 + FrameCodec.eventFrameBytes(3));
        assertThat(target.get(target.position() - 3)).isEqualTo((byte) 1);
        assertThat(target.get(target.position() - 1)).isEqualTo((byte) 3);
        assertThat(payload.position()).isEqualTo(1);
        assertThat(payload.remaining()).isEqualTo(3);
    }

    @Test
    void controlFramesAreFinalAndUnmasked() {
        assertThat(hex(FrameCodec.text("READY"))).isEqualTo("81055245414459");
        assertThat(hex(FrameCodec.ping(new byte[0]))).isEqualTo("8900");
        assertThat(hex(FrameCodec.pong(new byte[] {1, 2}))).isEqualTo("8a020102");
        assertThat(hex(FrameCodec.close(4000, "no"))).isEqualTo("88040fa06e6f");
    }

    @Test
    void aControlFrameThatIsTooLargeIsNotMade() {
        assertThatThrownBy(() -> FrameCodec.ping(new byte[FrameCodec.MAX_CONTROL_BYTES + 1]))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static String hex(ByteBuffer frame) {
        byte[] bytes = new byte[frame.remaining()];
        frame.get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
