package io.tabletrelay.harness.bench.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/**
 * Writes frames that were encoded before, again and again, to its one client, and reads the acks without waiting for them:
 * what it reaches is what the client can take.
 *
 * <p>Threading: as {@link ServedVariant} says; two threads of its own, for the handshake and acks, end with the sockets.
 */
final class BlastVariant implements ServedVariant {
    private static final int BLOCK_BYTES = 256 << 10;
    private static final int MASK_BYTES = 4;

    private final ServerSocketChannel listener;
    private final CompletableFuture<SocketChannel> client = new CompletableFuture<>();
    private final ByteBuffer block;
    private final int frameBytes;
    private volatile long acks;

    BlastVariant(Load load) throws IOException {
        int payloadBytes = Long.BYTES + load.eventBytes();
        frameBytes = 4 + payloadBytes;
        int frames = Math.max(1, BLOCK_BYTES / frameBytes);
        block = ByteBuffer.allocateDirect(frames * frameBytes);
        for (int n = 1; n <= frames; n++) {
            block.put((byte) 0x82)
                    .put((byte) 126)
                    .putShort((short) payloadBytes)
                    .putLong(n);
            block.position(n * frameBytes);
        }
        listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread reader = new Thread(this::serve, "bench-blast");
        reader.setDaemon(true);
        reader.start();
    }

    @Override
    public int wsPort() {
        return listener.socket().getLocalPort();
    }

    @Override
    public void push(long events) throws IOException {
        SocketChannel socket = client.join();
        for (long left = events * frameBytes; left > 0; ) {
            block.clear().limit((int) Math.min(block.capacity(), left));
            while (block.hasRemaining()) {
                left -= socket.write(block);
            }
        }
    }

    @Override
    public void pace(int eventsPerSecond, long events) {
        throw new UnsupportedOperationException("knows no rate");
    }

    @Override
    public long settled() {
        return acks;
    }

    @Override
    public void stop() throws IOException {
        listener.close();
        if (client.isDone()) {
            client.join().close();
        }
    }

    private void serve() {
        try {
            SocketChannel socket = listener.accept();
            InputStream in = socket.socket().getInputStream();
            int newLines = 0;
            while (newLines < 2) {
                int b = in.read();
                newLines = b == '\n' ? newLines + 1 : b == '\r' ? newLines : 0;
            }
            socket.write(
                    ascii("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"));
            skipFrame(in); // BIND
            socket.write(ascii("\u0001\u0005READY").put(0, (byte) 0x81));
            client.complete(socket);
            countAcks(socket);
        } catch (IOException e) {
            client.completeExceptionally(e);
        }
    }

    private static ByteBuffer ascii(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void skipFrame(InputStream in) throws IOException {
        in.skipNBytes(1);
        in.skipNBytes(MASK_BYTES + (in.read() & 0x7f));
    }

    private void countAcks(SocketChannel socket) throws IOException {
        ByteBuffer in = ByteBuffer.allocateDirect(BLOCK_BYTES);
        long counted = 0;
        while (socket.read(in) >= 0) {
            in.flip();
            while (in.remaining() > 1) {
                int length = 2 + MASK_BYTES + (in.get(in.position() + 1) & 0x7f);
                if (in.remaining() < length) {
                    break;
                }
                in.position(in.position() + length);
                counted++;
            }
            in.compact();
            acks = counted;
        }
    }
}
