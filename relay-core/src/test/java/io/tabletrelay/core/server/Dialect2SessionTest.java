package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Bound;
import io.tabletrelay.core.delivery.DeliverySink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class Dialect2SessionTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Bound BOUND = new Bound("p", "default", 77, 5, 3, "text/plain", 10, true, Durability.DISK);

    private final EdgeRig rig = EdgeRig.start();

    @AfterEach
    void stopWithNothingLogged() {
        rig.close();
        assertThat(rig.logged).allMatch(line -> line.startsWith("WARN line means nothing"));
    }

    private RawClient bound(String line) throws IOException {
        rig.pipe("p").onBind(sink -> sink.bound(BOUND));
        RawClient client = RawClient.openDialect2(rig.port());
        client.line(line);
        assertThat(client.expect(RawClient.TEXT).text()).startsWith("READY:{");
        return client;
    }

    private static void expectError(RawClient client, String code) throws IOException {
        assertThat(client.expect(RawClient.TEXT).text()).startsWith("ERROR:{\"code\":\"" + code + "\",\"message\":\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tablet-relay.v2", "mqtt, tablet-relay.v2", "tablet-relay.v2,x"})
    void dialect2IsSpokenWhereItIsOffered(String offered) throws IOException {
        try (RawClient client = RawClient.tcp(rig.port())) {
            client.bytes(RawClient.request("Sec-WebSocket-Protocol: " + offered));

            assertThat(client.httpAnswer())
                    .startsWith("HTTP/1.1 101 ")
                    .contains("\r\nSec-WebSocket-Protocol: tablet-relay.v2\r\n");
            client.line("oops");
            expectError(client, "BAD_LINE");
        }
    }

    @Test
    void aClientThatWantsAnotherProtocolIsNotTakenForDialect1() throws IOException {
        try (RawClient client = RawClient.tcp(rig.port())) {
            client.bytes(RawClient.request("Sec-WebSocket-Protocol: mqtt, tablet-relay.v3"));

            assertThat(client.httpAnswer()).startsWith("HTTP/1.1 400 ");
        }
        assertThat(rig.counts.handshakesRefused).hasValue(1);
    }

    @Test
    void readySaysWhatIsBoundAndThePipeIsToldWhatWasAsked() throws IOException {
        rig.pipe("p").onBind(sink -> sink.bound(BOUND));
        try (RawClient client = RawClient.openDialect2(rig.port())) {
            client.line("BIND:p?subscription=s&window=10&batch=3&order=strict&mode=standby&start=latest&headers=1");

            client.expectText("READY:{\"pipe\":\"p\",\"subscription\":\"s\",\"epoch\":77,\"next\":5,\"backlog\":3,"
                    + "\"contentType\":\"text/plain\",\"window\":10,\"order\":\"strict\",\"durability\":\"disk\"}");
            assertThat(rig.pipe("p").link().options)
                    .isEqualTo(new BindOptions(
                            BindOptions.Dialect.TWO,
                            "s",
                            new BindOptions.Start.Latest(),
                            10,
                            8 << 20,
                            3,
                            true,
                            BindOptions.Mode.STANDBY,
                            true,
                            false));
        }
    }

    @Test
    void everyAnswerReachesThePipe() throws IOException {
        try (RawClient client = bound("BIND:p")) {
            for (String line : new String[] {
                "ACK:1,3-5",
                "ACKTO:9",
                "NACK:6",
                "NACK:7:50:why",
                "ERROR:8",
                "TERM:9:no",
                "HOLD:10",
                "WINDOW:0",
                "AUTH:t"
            }) {
                client.line(line);
            }
            client.sync();

            assertThat(rig.pipe("p").link().acks).containsExactly(1L);
            assertThat(rig.pipe("p").link().said)
                    .containsExactly(
                            "ack 3-5",
                            "ackUpTo 9",
                            "nack 6 -1 ",
                            "nack 7 50 why",
                            "nack 8 -1 ",
                            "term 9 no",
                            "hold 10",
                            "window 0");
        }
    }

    @Test
    void eventsOfOneTurnComeInOneFrameWithAtMostABatchOfThem() throws IOException {
        try (RawClient client = bound("BIND:p?batch=2&headers=1")) {
            DeliverySink sink = rig.pipe("p").link().sink;
            for (int id = 1; id <= 3; id++) {
                sink.deliver(id, 1000 + id, id, ByteBuffer.wrap("ab".getBytes(StandardCharsets.UTF_8)), Map.of());
            }
            sink.flush();

            ByteBuffer two = ByteBuffer.wrap(client.expect(RawClient.BINARY).payload());
            ByteBuffer one = ByteBuffer.wrap(client.expect(RawClient.BINARY).payload());

            assertThat(two.remaining()).isEqualTo(2 * 26);
            assertThat(two.getLong(26)).isEqualTo(2);
            assertThat(two.getLong(34)).isEqualTo(1002);
            assertThat(two.getShort(42)).isEqualTo((short) 2);
            assertThat(one.remaining()).isEqualTo(26);
            assertThat(one.getLong(0)).isEqualTo(3);
            await().atMost(PATIENCE)
                    .until(() -> sink.writtenBytes() == sink.deliver(0, 0, 1, ByteBuffer.allocate(0), Map.of()) - 26);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ACK:1", "ACKTO:1", "NACK:1", "TERM:1:x", "HOLD:1", "WINDOW:5", "UNBIND", "FINISH"})
    void anAnswerBeforeABindIsABadLineAndTheConnectionStays(String line) throws IOException {
        try (RawClient client = RawClient.openDialect2(rig.port())) {
            client.line(line);

            expectError(client, "BAD_LINE");
            client.sync();
            assertThat(rig.counts.malformedLines).hasValue(1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "BIND",
                "BINDoops",
                "BIND:q",
                "ACK:abc",
                "ACK:-1",
                "ACK:",
                "ACK:99999999999999999999",
                "STORED:1",
                "aBIND:b",
                "\u0000"
            })
    void aMalformedLineIsAnsweredAndChangesNothing(String line) throws IOException {
        try (RawClient client = bound("BIND:p")) {
            client.line(line);

            expectError(client, "BAD_LINE");
            client.line("ACK:5");
            client.sync();
            assertThat(rig.pipe("p").link().acks).containsExactly(5L);
            assertThat(rig.pipe("q").links).isEmpty();
        }
    }

    @Test
    void aBadOptionIsToldAndAnotherBindMayFollow() throws IOException {
        try (RawClient client = RawClient.openDialect2(rig.port())) {
            client.line("BIND:p?window=0");
            expectError(client, "BAD_OPTION");
            client.line("BIND:p");

            assertThat(client.expect(RawClient.TEXT).text()).startsWith("READY:");
        }
    }

    @Test
    void afterUnbindAnotherPipeMayBeBoundOnTheSameConnection() throws IOException {
        try (RawClient client = bound("BIND:p")) {
            client.line("BIND:q");
            expectError(client, "BAD_LINE");
            client.line("UNBIND");
            client.expectText("UNBOUND");
            client.line("BIND:q");

            assertThat(client.expect(RawClient.TEXT).text()).startsWith("READY:{\"pipe\":\"q\"");
            assertThat(rig.pipe("p").link().gone).hasValue(1);
            client.line("ACK:3");
            client.sync();
            assertThat(rig.pipe("q").link().acks).containsExactly(3L);
            assertThat(rig.pipe("p").link().acks).isEmpty();
        }
        await().atMost(PATIENCE).until(() -> rig.pipe("q").link().gone.get() == 1);
    }

    @ParameterizedTest
    @CsvSource({
        "PIPE_BUSY, 4000",
        "FORBIDDEN, 4003",
        "NO_SUCH_PIPE, 4004",
        "PIPE_FINISHED, 4410",
        "PIPE_FAILED, 4500",
        "STOPPING, 1012"
    })
    void aRefusalIsToldAndClosesWithItsCode(ErrorCode code, int closeCode) throws IOException {
        String reason = "é".repeat(200);
        rig.pipe("p").onBind(sink -> sink.refused(new RelayException(code, reason)));
        try (RawClient client = RawClient.openDialect2(rig.port())) {
            client.line("BIND:p");

            expectError(client, code.name());
            RawClient.Frame close = client.expectClose();
            assertThat(close.closeCode()).isEqualTo(closeCode);
            assertThat(close.closeReason()).isEqualTo("é".repeat(61));
        }
    }

    @Test
    void aPipeThatCannotBeHadIsTold() throws IOException {
        try (RawClient client = RawClient.openDialect2(rig.port())) {
            client.line("BIND:failed");

            expectError(client, "PIPE_FAILED");
            assertThat(client.expectClose().closeCode()).isEqualTo(4500);
        }
        assertThat(rig.counts.bindsFailed).hasValue(1);
    }

    @Test
    void tenRefusedBindsWithinTenSecondsAreTooMany() throws IOException {
        try (RawClient client = RawClient.openDialect2(rig.port())) {
            for (int i = 0; i < 10; i++) {
                client.line("BIND:p?no=1");
                expectError(client, "BAD_OPTION");
            }

            assertThat(client.expectClose().closeCode()).isEqualTo(4429);
        }
    }

    @Test
    void takeOverEndAndConfirmedAcksAreTold() throws IOException {
        try (RawClient client = bound("BIND:p?confirm=acks")) {
            DeliverySink sink = rig.pipe("p").link().sink;
            sink.acked(new long[] {3, 5}, new long[] {3, 9});
            sink.ended();
            sink.takenOver();

            client.expectText("ACKED:3,5-9");
            client.expectText("END");
            assertThat(client.expectClose().closeCode()).isEqualTo(4409);
        }
    }

    @Test
    void acksAreConfirmedOnlyToWhoAskedForIt() throws IOException {
        try (RawClient client = bound("BIND:p")) {
            rig.pipe("p").link().sink.acked(new long[] {3}, new long[] {3});
            rig.pipe("p").link().sink.ended();

            client.expectText("END");
        }
    }

    @Test
    void theProbesOwnPongIsToldFromOthers() throws IOException {
        try (RawClient client = bound("BIND:p")) {
            StubPipe.Link link = rig.pipe("p").link();
            link.sink.probe();
            byte[] payload = client.expect(RawClient.PING).payload();
            client.frame(RawClient.PONG, new byte[] {1});
            client.frame(RawClient.PONG, payload);
            client.sync();

            assertThat(link.probePongs).hasValue(1);
            assertThat(link.signs.get()).isPositive();
        }
    }

    @Test
    void aClientThatTakesNoneOfItsErrorsIsCutOff() throws IOException {
        try (RawClient client = RawClient.openWithSmallBufferAndDialect2(rig.port())) {
            byte[] oops = RawClient.encode(0x81, "oops".getBytes(StandardCharsets.UTF_8), true);
            ByteBuffer many = ByteBuffer.allocate(1000 * oops.length);
            while (many.hasRemaining()) {
                many.put(oops);
            }
            await().atMost(PATIENCE).until(() -> {
                try {
                    client.bytes(many.array());
                } catch (IOException e) {
                    return true; // reset
                }
                return rig.counts.slowCut.get() == 1;
            });
            assertThat(rig.counts.slowCut).hasValue(1);
        }
        rig.forgetLogged();
    }

    @Test
    void aLineInFragmentsIsReadAndOneOfMoreThan64KiBIsNot() throws IOException {
        try (RawClient client = bound("BIND:p")) {
            client.bytes(RawClient.encode(0x01, "ACK".getBytes(StandardCharsets.UTF_8), true));
            client.frame(RawClient.PING, new byte[] {42});
            client.expect(RawClient.PONG);
            client.bytes(RawClient.encode(0x00, new byte[0], true));
            client.bytes(RawClient.encode(0x80, ":77".getBytes(StandardCharsets.UTF_8), true));
            client.sync();
            assertThat(rig.pipe("p").link().acks).containsExactly(77L);

            client.bytes(RawClient.encode(0x01, new byte[65_000], true));
            client.bytes(RawClient.encode(0x80, new byte[537], true));

            assertThat(client.expectClose().closeCode()).isEqualTo(1009);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x80, 0x00})
    void aFragmentOfNothingBreaksTheProtocol(int firstByte) throws IOException {
        try (RawClient client = RawClient.openDialect2(rig.port())) {
            client.bytes(RawClient.encode(firstByte, new byte[1], true));

            assertThat(client.expectClose().closeCode()).isEqualTo(1002);
        }
    }

    @Test
    void aStopIsToldAsARestart() throws IOException {
        try (RawClient client = bound("BIND:p")) {
            Thread stop = new Thread(() -> rig.server.stop(PATIENCE));
            stop.start();

            assertThat(client.expectClose().closeCode()).isEqualTo(1012);
            client.frame(RawClient.CLOSE, new byte[] {3, (byte) 0xf4});
            assertThat(client.atEnd()).isTrue();
        }
    }
}
