package io.tabletrelay.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.PipeName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LineCodecTest {
    @Test
    void everyVerbIsRead() throws ProtocolException {
        assertThat(LineCodec.decode("BIND:plant 1")).isEqualTo(new Line.Bind(new PipeName("plant 1")));
        assertThat(LineCodec.decode("ACK:1")).isEqualTo(new Line.Ack(1));
        assertThat(LineCodec.decode("ERROR:42")).isEqualTo(new Line.Nack(42));
    }

    @Test
    void theArgumentIsAllThatFollowsTheFirstColon() throws ProtocolException {
        assertThat(LineCodec.decode("BIND:aBIND:b")).isEqualTo(new Line.Bind(new PipeName("aBIND:b")));
    }

    @Test
    void theLargestIdIsRead() throws ProtocolException {
        assertThat(LineCodec.decode("ACK:9223372036854775807")).isEqualTo(new Line.Ack(Long.MAX_VALUE));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":",
                "BIND",
                "ACK",
                "BINDoops",
                "BINDoops:a",
                "bind:a",
                "Ack:1",
                " BIND:a",
                "BIND :a",
                "BIND:",
                "BIND: ",
                "BIND:a\n",
                "BIND:a\u0000b",
                "BIND:\u202Ea",
                "READY",
                "READY:",
                "UNBIND:a",
                "ACKTO:1",
                "ACK:",
                "ACK: 1",
                "ACK:1 ",
                "ACK:abc",
                "ACK:-1",
                "ACK:+1",
                "ACK:0",
                "ACK:1.0",
                "ACK:0x10",
                "ACK:1,2",
                "ACK:1-2",
                "ACK:ACK:1",
                "ACK:1\n",
                "ACK:9223372036854775808",
                "ACK:9999999999999999999",
                "ACK:18446744073709551617",
                "ACK:00000000000000000001",
                "ACK:\u0661",
                "ACK:\uFF11",
                "ERROR",
                "ERROR:",
                "ERROR:x",
                "ERROR:-5"
            })
    void anythingElseIsRefused(String line) {
        assertThatThrownBy(() -> LineCodec.decode(line)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void aPipeNameThatIsTooLongIsRefused() {
        assertThatThrownBy(() -> LineCodec.decode("BIND:" + "x".repeat(PipeName.MAX_BYTES + 1)))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("too long");
    }
}
