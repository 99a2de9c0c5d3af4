package io.tabletrelay.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PayloadPrinterTest {
    private final PayloadPrinter printer = new PayloadPrinter();

    @Test
    void textIsPrintedAsItIs() {
        assertThat(printer.print(ByteBuffer.wrap("grün\n".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo("grün");
    }

    @Test
    void bytesThatAreNotTextArePrintedAsHexAndLeftWhereTheyStand() {
        ByteBuffer bytes = ByteBuffer.wrap(new byte[] {0, (byte) 0xff, 16});

        assertThat(printer.print(bytes)).isEqualTo("00ff10");
        assertThat(bytes.remaining()).isEqualTo(3);
    }
}
