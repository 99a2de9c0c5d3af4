package io.tabletrelay.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.tablet.Tablet;
import io.tabletrelay.api.tablet.TabletCodec;
import io.tabletrelay.api.tablet.TabletFamily;
import io.tabletrelay.api.tablet.TabletType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PayloadPrinterTest {
    private final PayloadPrinter printer = new PayloadPrinter();

    @Test
    void textIsPrintedAsItIs() {
        assertThat(printer.print(ByteBuffer.wrap("grün\n".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo("grün");
    }

    @ParameterizedTest
    @EnumSource
    void aTabletOfEitherFamilyIsPrintedRowByRow(TabletFamily family) {
        Tablet tablet = Tablet.builder("root.sg.d1")
                .column("a", TabletType.DOUBLE)
                .column("b", TabletType.TEXT)
                .row(1000, 21.5, "x")
                .row(2000, null, "y")
                .build();

        assertThat(printer.print(new TabletCodec(family).encode(tablet)))
                .isEqualTo("{\"device\":\"root.sg.d1\",\"time\":\"1970-01-01T00:00:01Z\",\"a\":21.5,\"b\":\"x\"}\n"
                        + "{\"device\":\"root.sg.d1\",\"time\":\"1970-01-01T00:00:02Z\",\"a\":null,\"b\":\"y\"}");
    }

    @Test
    void bytesThatAreNotTextArePrintedAsHexAndLeftWhereTheyStand() {
        ByteBuffer bytes = ByteBuffer.wrap(new byte[] {0, (byte) 0xff, 16});

        assertThat(printer.print(bytes)).isEqualTo("00ff10");
        assertThat(bytes.remaining()).isEqualTo(3);
    }
}
