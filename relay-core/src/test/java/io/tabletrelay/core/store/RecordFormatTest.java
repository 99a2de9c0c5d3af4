package io.tabletrelay.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.ProducerSequence;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class RecordFormatTest {
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(1024);

    @Test
    void anEventHasTheseBytesForEver() {
        Payload payload =
                new Payload("a/b", Map.of("k", "v"), ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8)));
        EventGroup group = new EventGroup(List.of(payload), new ProducerSequence("p1", 9), 0x0102030405L);

        RecordFormat.writeEvent(buffer, 258, 1, group, crc);

        assertThat(HexFormat.of().formatHex(bytes()))
                .isEqualTo("01020002c445ac7f" + "0000000000000102" + "0000000100000001" + "0000000102030405"
                        + "0000000000000009" + "0003000100000006" + "7031" + "612f62" + "00016b000176" + "68656c6c6f");
    }

    private byte[] bytes() {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(0, bytes);
        return bytes;
    }
}
