package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostileClientTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private final EdgeRig rig = EdgeRig.start();

    @AfterEach
    void stopWithNothingLogged() {
        rig.close();
        assertThat(rig.logged).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "81ff000000007fffffff01020304, 1009", // the length that ends the library's own server
        "82ff000000007fffffff01020304, 1009",
        "81ff800000000000000001020304, 1009", // a negative length
        "81ff000000000001000101020304, 1009", // one byte more than 64 KiB
        "810141, 1002", // not masked
        "018101020304, 1008", // the first of several fragments
        "808101020304, 1008", // a fragment of nothing
        "c18101020304, 1002", // a reserved bit
        "838101020304, 1002", // an unknown opcode
        "8b8101020304, 1002",
        "098001020304, 1002", // a fragmented ping
        "89fe007e01020304, 1002", // a ping that is too large
        "81fe000301020304, 1002", // a length in more bytes than it needs
        "81ff000000000000ffff01020304, 1002",
        "818201020304c22a, 1007", // text that is not UTF-8
    })
    void bytesThatAreNoFrameForUsCloseThatConnectionWithTheirCode(String hex, int closeCode) throws IOException {
        try (RawClient other = RawClient.bound(rig.port(), "p");
                RawClient client = RawClient.open(rig.port())) {
            client.bytes(HexFormat.of().parseHex(hex));

            assertThat(client.expectClose().closeCode()).isEqualTo(closeCode);
            assertThat(client.atEnd()).isTrue();
            other.sync();
        }
    }

    @Test
    void goodLinesBeforeABrokenFrameStillCount() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            byte[] ack = RawClient.encode(0x81, "ACK:1".getBytes(StandardCharsets.UTF_8), true);
            client.bytes(ByteBuffer.allocate(ack.length + 3)
                    .put(ack)
                    .put(HexFormat.of().parseHex("810141"))
                    .array());

            assertThat(client.expectClose().closeCode()).isEqualTo(1002);
            assertThat(rig.pipe("p").link().acks).containsExactly(1L);
        }
    }

    @Test
    void aTextOf64KiBIsStillALineAndOneMiBIsToldWhyItIsNot() throws IOException {
        try (RawClient client = RawClient.open(rig.port())) {
            client.frame(RawClient.TEXT, new byte[65_536]);
            client.sync();
            client.frame(RawClient.TEXT, new byte[1 << 20]);

            assertThat(client.expectClose().closeCode()).isEqualTo(1009);
            assertThat(rig.counts.malformedLines).hasValue(1);
        }
        rig.forgetLogged();
    }

    @ParameterizedTest
    @CsvSource({
        "'', 1000",
        "03e8, 1000",
        "0fa0, 4000",
        "03, 1002", // half a code
        "03ed, 1002", // 1005 may not be sent
        "0000, 1002",
        "ffff, 1002",
        "03e8c22a, 1007", // a reason that is not UTF-8
    })
    void everyCloseFrameIsAnsweredAndEndsTheConnection(String hexPayload, int answer) throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            client.frame(RawClient.CLOSE, HexFormat.of().parseHex(hexPayload));
            client.line("ACK:1");

            assertThat(client.expectClose().closeCode()).isEqualTo(answer);
            assertThat(client.atEnd()).isTrue();
            await().atMost(PATIENCE).until(() -> rig.pipe("p").link().gone.get() == 1);
            assertThat(rig.pipe("p").link().acks).isEmpty();
        }
    }

    @Test
    void framesCutIntoSingleBytesAreRead() throws IOException {
        try (RawClient client = RawClient.open(rig.port())) {
            for (String line : List.of("BIND:p", "ACK:" + "1".repeat(18))) {
                for (byte b : RawClient.encode(0x81, line.getBytes(StandardCharsets.UTF_8), true)) {
                    client.bytes(new byte[] {b});
                }
            }
            client.expectText("READY");
            client.sync();

            assertThat(rig.pipe("p").link().acks).containsExactly(111_111_111_111_111_111L);
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                StackOverflowError.class,
                OutOfMemoryError.class,
                NoClassDefFoundError.class,
                AssertionError.class,
                IllegalStateException.class
            })
    void whateverAPipeThrowsEndsThatConnectionOnly(Class<? extends Throwable> type) throws Exception {
        Throwable thrown = type.getConstructor().newInstance();
        rig.pipe("p").onBind(sink -> HostileClientTest.<RuntimeException>sneak(thrown));
        try (RawClient other = RawClient.bound(rig.port(), "q");
                RawClient client = RawClient.open(rig.port())) {
            client.line("BIND:p");

            RawClient.Frame close = client.expectClose();
            assertThat(close.closeCode()).isEqualTo(1011);
            assertThat(close.closeReason()).isEqualTo("internal error");
            for (int i = 0; i < 20; i++) {
                RawClient.bound(rig.port(), "q" + i).close(); // every worker thread lives
            }
            other.sync();
            assertThat(rig.logged)
                    .singleElement()
                    .asString()
                    .startsWith("ERROR connection ends by a fault of the relay");
        }
        rig.forgetLogged();
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    @Test
    void aFloodOfPingsIsRefused() throws IOException {
        try (RawClient client = RawClient.open(rig.port())) {
            for (int i = 0; i < 30; i++) {
                client.frame(RawClient.PING, new byte[] {1});
            }

            assertThat(client.expectClose().closeCode()).isEqualTo(1008);
        }
    }

    @Test
    void aFloodOfLinesHoldsUpNobody() throws Exception {
        byte[] ack = RawClient.encode(0x81, "ACK:1".getBytes(StandardCharsets.UTF_8), true);
        ByteBuffer acks = ByteBuffer.allocate(5_000 * ack.length);
        while (acks.hasRemaining()) {
            acks.put(ack);
        }
        AtomicBoolean flooding = new AtomicBoolean(true);
        try (RawClient flooder = RawClient.bound(rig.port(), "p");
                RawClient other = RawClient.bound(rig.port(), "q")) {
            rig.pipe("p").link().keepsAcks = false;
            CompletableFuture<Void> flood = CompletableFuture.runAsync(() -> flood(flooder, acks.array(), flooding));
            long slowestNanos = 0;
            for (int i = 0; i < 100; i++) {
                long startNanos = System.nanoTime();
                rig.pipe("q").link().sink.deliver(i, 0, 1, ByteBuffer.allocate(10), Map.of());
                rig.pipe("q").link().sink.flush();
                other.expect(RawClient.BINARY);
                RawClient.bound(rig.port(), "fresh" + i).close();
                slowestNanos = Math.max(slowestNanos, System.nanoTime() - startNanos);
            }
            flooding.set(false);

            flood.get(20, TimeUnit.SECONDS);
            assertThat(Duration.ofNanos(slowestNanos)).isLessThan(Duration.ofSeconds(2));
            flooder.sync();
        }
    }

    private static void flood(RawClient client, byte[] lines, AtomicBoolean flooding) {
        try {
            while (flooding.get()) {
                client.bytes(lines);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "GET / HTTP/1.1|Host: relay, 404",
        "GET / HTTP/1.1|Upgrade: websocket|Connection: Upgrade|Sec-WebSocket-Version: 13, 404", // no key
        "GET / HTTP/1.1|Upgrade: websocket|Connection: Upgrade|Sec-WebSocket-Key: eA==|Sec-WebSocket-Version: 8, 426",
        "POST / HTTP/1.1|Upgrade: websocket, 404",
        "hello, 404",
        "GET / HTTP/1.1|no colon, 404",
    })
    void aRequestThatIsNoHandshakeGetsItsStatusAndTheEnd(String request, int status) throws IOException {
        try (RawClient client = RawClient.tcp(rig.port())) {
            client.bytes((request.replace("|", "\r\n") + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));

            assertThat(client.httpAnswer()).startsWith("HTTP/1.1 " + status + " ");
            assertThat(client.atEnd()).isTrue();
            assertThat(rig.counts.handshakesRefused).hasValue(1);
        }
        await().atMost(PATIENCE).until(() -> rig.server.connections() == 0);
    }

    @Test
    void anyPathIsAccepted() throws IOException {
        try (RawClient client = RawClient.tcp(rig.port())) {
            String request = new String(RawClient.request(), StandardCharsets.US_ASCII)
                    .replace("GET / ", "GET /some/path?x=1 ")
                    .replace("Connection: Upgrade", "Connection: keep-alive, Upgrade");
            client.bytes(request.getBytes(StandardCharsets.US_ASCII));

            assertThat(client.httpAnswer())
                    .startsWith("HTTP/1.1 101 ")
                    .contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                    .doesNotContain("TooTallNate");
        }
    }

    @Test
    void linesThatFollowTheHandshakeInOneWriteAreRead() throws IOException {
        byte[] bind = RawClient.encode(0x81, "BIND:p".getBytes(StandardCharsets.UTF_8), true);
        try (RawClient client = RawClient.tcp(rig.port())) {
            byte[] request = RawClient.request();
            client.bytes(ByteBuffer.allocate(request.length + bind.length + 20_000)
                    .put(request)
                    .put(bind)
                    .put(RawClient.encode(0x82, new byte[19_992], true))
                    .array());

            assertThat(client.httpAnswer()).startsWith("HTTP/1.1 101 ");
            client.expectText("READY");
            client.sync();
            assertThat(rig.counts.malformedLines).hasValue(1);
        }
        rig.forgetLogged();
    }

    @Test
    void aFloodOfHeadersIsRefused() throws IOException {
        try (RawClient client = RawClient.tcp(rig.port())) {
            client.bytes(("GET / HTTP/1.1\r\n" + "X: y\r\n".repeat(4_000)).getBytes(StandardCharsets.US_ASCII));

            assertThat(client.httpAnswer()).startsWith("HTTP/1.1 431 ");
        }
        await().atMost(PATIENCE).until(() -> rig.server.connections() == 0);
    }

    @Test
    void connectionsThatNeverBindLeaveNothingBehind() throws IOException {
        for (int i = 0; i < 1_000; i++) {
            RawClient client = i % 4 == 3 ? RawClient.open(rig.port()) : RawClient.tcp(rig.port());
            if (i % 2 == 0) {
                client.reset();
            } else {
                client.close();
            }
        }

        await().atMost(PATIENCE).until(() -> rig.server.connections() == 0);
        assertThat(rig.counts.connected).hasPositiveValue();
        assertThat(rig.counts.disconnected).hasValue(rig.counts.connected.get());
    }
}
