package io.tabletrelay.core.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import java.time.Instant;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandCodecTest {
    private final CommandCodec codec = new CommandCodec();

    private String acks(String line) throws ProtocolException {
        IdRanges ids = ((Command.Acks) codec.decode(line)).ids();
        return IntStream.range(0, ids.size())
                .mapToObj(i -> ids.firstId(i) + "-" + ids.lastId(i))
                .collect(Collectors.joining(" "));
    }

    @Test
    void idsRangesAndListsAreAcks() throws ProtocolException {
        assertThat(acks("ACK:7")).isEqualTo("7-7");
        assertThat(acks("ACK:3,5-9")).isEqualTo("3-3 5-9");
        assertThat(acks("ACK:9223372036854775807,1-1")).isEqualTo("9223372036854775807-9223372036854775807 1-1");
    }

    @Test
    void aLineHasAtMost1024IdsAndRanges() throws ProtocolException {
        String most = "ACK:"
                + IntStream.rangeClosed(1, 1024).mapToObj(Integer::toString).collect(Collectors.joining(","));

        assertThat(acks(most)).endsWith(" 1024-1024");
        assertThat(code(most + ",1025")).isEqualTo(ErrorCode.BAD_LINE);
    }

    @Test
    void everyVerbIsRead() throws ProtocolException {
        assertThat(codec.decode("ACKTO:5")).isEqualTo(new Command.AckUpTo(5));
        assertThat(codec.decode("NACK:5")).isEqualTo(new Command.Nack(5, -1, ""));
        assertThat(codec.decode("ERROR:5")).isEqualTo(new Command.Nack(5, -1, ""));
        assertThat(codec.decode("NACK:5:0")).isEqualTo(new Command.Nack(5, 0, ""));
        assertThat(codec.decode("NACK:5:250:disk: full")).isEqualTo(new Command.Nack(5, 250, "disk: full"));
        assertThat(codec.decode("TERM:5:bad: really")).isEqualTo(new Command.Term(5, "bad: really"));
        assertThat(codec.decode("HOLD:5")).isEqualTo(new Command.Hold(5));
        assertThat(codec.decode("WINDOW:0")).isEqualTo(new Command.Window(0));
        assertThat(codec.decode("UNBIND")).isEqualTo(new Command.Unbind());
        assertThat(codec.decode("FINISH")).isEqualTo(new Command.Finish());
        assertThat(codec.decode("AUTH:a:b")).isEqualTo(new Command.Auth("a:b"));
        assertThat(codec.decode("PUBLISH:a%2Fb?producer=p%201&type=json&headers=1"))
                .isEqualTo(new Command.Publish(new PipeName("a/b"), "p 1", "json", true));
    }

    @Test
    void aBindWithoutOptionsHasTheDefaults() throws ProtocolException {
        assertThat(codec.decode("BIND:caf%C3%A9:1"))
                .isEqualTo(new Command.Bind(
                        new PipeName("café:1"),
                        "default",
                        new Command.From.Earliest(),
                        1024,
                        8 << 20,
                        64,
                        false,
                        Command.Mode.EXCLUSIVE,
                        false,
                        false));
    }

    @Test
    void aBindHasAllItsOptions() throws ProtocolException {
        assertThat(codec.decode("BIND:p?subscription=s&start=2026-01-31T12:00:00%2B01:00&window=65536&window-bytes=1"
                        + "&batch=1&order=strict&mode=standby&headers=1&confirm=acks"))
                .isEqualTo(new Command.Bind(
                        new PipeName("p"),
                        "s",
                        new Command.From.Time(Instant.parse("2026-01-31T11:00:00Z")),
                        65_536,
                        1,
                        1,
                        true,
                        Command.Mode.STANDBY,
                        true,
                        true));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":",
                "ACK",
                "ACK:",
                "ACK:0",
                "ACK:-1",
                "ACK:1-",
                "ACK:5-3",
                "ACK:1,",
                "ACK:,1",
                "ACK:1,,2",
                "ACK:1 ",
                "ACK:9223372036854775808",
                "ACK:1-2-3",
                "ack:1",
                "ACKTO",
                "ACKTO:1-2",
                "NACK:1:",
                "NACK:1:-5",
                "NACK:1:x",
                "NACK:1:604800001",
                "NACK::1",
                "TERM:1",
                "TERM:x:y",
                "HOLD:",
                "WINDOW:",
                "WINDOW:-1",
                "WINDOW:65537",
                "UNBIND:",
                "UNBIND:p",
                "FINISH:1",
                "AUTH:",
                "AUTH",
                "BIND",
                "BIND:",
                "BIND:?window=1",
                "BIND:%zz",
                "BIND:%4",
                "BIND:%FF",
                "BIND:p%00",
                "BINDoops",
                "PUBLISH:",
                "STORED:1",
                "READY",
                "\u0000",
                "ACK:\u0661"
            })
    void anythingElseIsABadLine(String line) {
        assertThat(code(line)).isEqualTo(ErrorCode.BAD_LINE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "windows=1",
                "=1",
                "window",
                "window=",
                "window=0",
                "window=65537",
                "window=x",
                "window=1&window=1",
                "window-bytes=0",
                "batch=0",
                "order=Strict",
                "mode=exclusiv",
                "headers=2",
                "headers=",
                "confirm=1",
                "start=0",
                "start=",
                "start=now",
                "start=2026-01-31",
                "start=2026-01-31T12:00:00",
                "start=%2B999999999-01-01T00:00:00Z",
                "subscription=",
                "subscription=%0A",
                "mode=shared&order=strict",
                "&"
            })
    void anOptionThatIsNoneIsTold(String options) {
        assertThat(code("BIND:p?" + options)).isEqualTo(ErrorCode.BAD_OPTION);
    }

    @Test
    void whatIsWrongWithAnOptionSaysNameValueAndWhatIsAllowed() {
        ProtocolException e = catchThrowableOfType(ProtocolException.class, () -> codec.decode("BIND:p?window=70000"));

        assertThat(e.reason()).contains("name=window", "value=70000", "1 to 65536");
    }

    private ErrorCode code(String line) {
        return catchThrowableOfType(ProtocolException.class, () -> codec.decode(line))
                .code();
    }
}
