package io.tabletrelay.core.store.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.IdRange;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RecordFormatTest {
    private final RecordChecksum checksum = new RecordChecksum(RecordChecksum.NO_SALT);
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(1024);

    @Test
    void anEventHasTheseBytesForEver() {
        Payload payload =
                new Payload("a/b", Map.of("k", "v"), ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8)));
        EventGroup group = new EventGroup(List.of(payload), new ProducerSequence("p1", 9), 0x0102030405L);

        RecordFormat.writeEvent(buffer, 258, 1, group, 0x0A0B, checksum);

        assertThat(HexFormat.of().formatHex(bytes()))
                .isEqualTo("01020002a4c04d7c" + "0000000000000102" + "0000000100000001" + "0000000102030405"
                        + "0000000000000009" + "0003000100000006" + "0000000000000a0b" + "7031" + "612f62"
                        + "00016b000176" + "68656c6c6f");
    }

    @Test
    void aSegmentHeaderHasTheseBytesForEver() {
        ProducerTable.Entry producer = new ProducerTable.Entry("p", 3, new IdRange(4, 5), 6);
        SegmentHeader header = new SegmentHeader(10, 7, 8, 8, 1, 65_536, 0x01020304, List.of(producer));

        ByteBuffer written = header.toBytes();

        byte[] bytes = new byte[written.remaining()];
        written.get(0, bytes);
        assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo("01010000ab4b858d" + "000000000000000a" + "0000000000000007" + "0000000000000008"
                        + "0000000000000008" + "0000000000000001" + "0000000000010000" + "0102030400000001" + "000170"
                        + "0000000000000003" + "0000000000000004" + "0000000000000005" + "0000000000000006");
        assertThat(SegmentHeader.parse(written)).isEqualTo(header);
    }

    @Test
    void theSaltIsInTheChecksumAlone() {
        EventGroup group = new EventGroup(List.of(new Payload("a/b", Map.of(), ByteBuffer.allocate(1))), null, 0);
        RecordFormat.writeEvent(buffer, 1, 1, group, 0, checksum);
        byte[] unsalted = bytes();

        RecordFormat.writeEvent(buffer, 1, 1, group, 0, new RecordChecksum(1));

        byte[] salted = bytes();
        assertThat(HexFormat.of().formatHex(salted, 4, 8)).isEqualTo("19e77c0e");
        assertThat(salted).hasSameSizeAs(unsalted);
        System.arraycopy(unsalted, 4, salted, 4, 4);
        assertThat(salted).isEqualTo(unsalted);
    }

    @Test
    void theSizeIsKnownBeforeAnEventIsWritten() {
        Payload payload = new Payload("a/ü", Map.of("k", "€", "l", ""), ByteBuffer.allocate(77));
        EventGroup group = new EventGroup(List.of(payload), new ProducerSequence("ö", 1), 0);

        RecordFormat.writeEvent(buffer, 1, 1, group, 0, checksum);

        assertThat(buffer.remaining()).isEqualTo(RecordFormat.eventBytes(payload, group.sequence()));
    }

    private byte[] bytes() {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(0, bytes);
        return bytes;
    }
}
