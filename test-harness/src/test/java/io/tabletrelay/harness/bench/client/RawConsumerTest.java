package io.tabletrelay.harness.bench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RawConsumerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int MASK_BYTES = 4;

    private ServerSocket listener;

    @BeforeEach
    void listen() throws IOException {
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void close() throws IOException {
        listener.close();
    }

    @Test
    void eventsThatComeOnceAndInOrderAreCounted() throws IOException {
        CompletableFuture<Void> served = serve(1, 2, 3);
        try (RawConsumer consumer = RawConsumer.bind(listener.getLocalPort(), "p", null)) {
            long beforeNanos = System.nanoTime();

            long lastNanos = consumer.receive(3, PATIENCE);

            assertThat(lastNanos - beforeNanos).isLessThan(PATIENCE.toNanos());
        }
        served.join();
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"1 2 2 3", "1 3 4", "1 3 2", "2 3 4", "1 2 3 4"})
    void eventsThatAreRepeatedLostReorderedOrTooManyAreNoMeasure(String ids) throws IOException {
        CompletableFuture<Void> served =
                serve(Stream.of(ids.split(" ", -1)).mapToLong(Long::parseLong).toArray());
        try (RawConsumer consumer = RawConsumer.bind(listener.getLocalPort(), "p", null)) {
            assertThatThrownBy(() -> consumer.receive(3, PATIENCE))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("events did not come once and in order");
        }
        served.join();
    }

    /** Answers one consumer's handshake and BIND, and sends events with these ids in one write. */
    private CompletableFuture<Void> serve(long... ids) {
        return CompletableFuture.runAsync(() -> {
            try (Socket socket = listener.accept()) {
                InputStream in = socket.getInputStream();
                int newLines = 0;
                while (newLines < 2) {
                    int b = in.read();
                    newLines = b == '\n' ? newLines + 1 : b == '\r' ? newLines : 0;
                }
                socket.getOutputStream()
                        .write("HTTP/1.1 101 Switching Protocols\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                in.skipNBytes(1);
                in.skipNBytes(MASK_BYTES + (in.read() & 0x7f)); // BIND
                socket.getOutputStream().write(answer(ids));
                in.readAllBytes();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    private static byte[] answer(long... ids) {
        ByteBuffer frames = ByteBuffer.allocate(7 + ids.length * (2 + Long.BYTES));
        frames.put((byte) 0x81).put((byte) 5).put("READY".getBytes(StandardCharsets.US_ASCII));
        for (long id : ids) {
            frames.put((byte) 0x82).put((byte) Long.BYTES).putLong(id);
        }
        return frames.array();
    }
}
