package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.java_websocket.WebSocket;
import org.java_websocket.WebSocketAdapter;
import org.java_websocket.WebSocketImpl;
import org.java_websocket.WebSocketServerFactory;
import org.java_websocket.drafts.Draft;
import org.java_websocket.drafts.Draft_6455;
import org.java_websocket.handshake.ClientHandshake;
import org.java_websocket.server.WebSocketServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The library's server, with our channel under it, made to lose a write wake-up: a frame is queued after the library
 * has seen an empty queue and before it gives up its interest in writing, in a pass that also read from that socket.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LostWakeUpTest {
    private static final int ROUNDS = 20;
    private static final byte[] FIRST = RawClient.encode(0x82, new byte[] {1}, false);
    private static final byte[] SECOND = RawClient.encode(0x82, new byte[] {2}, false);

    @Test
    void aFrameQueuedBetweenTheLastWriteAndTheEndOfWriteInterestStillLeaves() throws Exception {
        LibraryServer server = new LibraryServer();
        server.start();
        server.started.await();
        try (RawClient blocker = RawClient.open(server.getPort());
                RawClient client = RawClient.open(server.getPort())) {
            Socket blocking = server.opened.take();
            Socket served = server.opened.take();
            for (int round = 0; round < ROUNDS; round++) {
                CountDownLatch release = blocking.blockSelectorAtNextRead();
                blocker.frame(RawClient.TEXT, new byte[1]);
                blocking.blocked.take();
                client.frame(RawClient.TEXT, new byte[1]);
                served.late = SECOND;
                served.outQueue.add(ByteBuffer.wrap(FIRST.clone()));
                server.onWriteDemand(served);
                release.countDown();

                assertThat(client.expect(RawClient.BINARY).payload()).containsExactly(1);
                assertThat(client.expect(RawClient.BINARY).payload()).containsExactly(2);
            }
            assertThat(server.lateFrames).hasValue(ROUNDS);
        } finally {
            server.stop(1_000);
        }
    }

    private static final class LibraryServer extends WebSocketServer {
        final CountDownLatch started = new CountDownLatch(1);
        final BlockingQueue<Socket> opened = new LinkedBlockingQueue<>();
        final AtomicInteger lateFrames = new AtomicInteger();

        LibraryServer() {
            super(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            setConnectionLostTimeout(0);
            setWebSocketFactory(new Factory());
        }

        @Override
        public void onStart() {
            started.countDown();
        }

        @Override
        public void onOpen(WebSocket socket, ClientHandshake handshake) {
            opened.add((Socket) socket);
        }

        @Override
        public void onClose(WebSocket socket, int code, String reason, boolean remote) {
            // of no interest
        }

        @Override
        public void onMessage(WebSocket socket, String message) {
            // it only had to be read
        }

        @Override
        public void onError(@Nullable WebSocket socket, Exception e) {
            throw new AssertionError(e);
        }

        private final class Factory implements WebSocketServerFactory {
            @Override
            public WebSocketImpl createWebSocket(WebSocketAdapter listener, Draft draft) {
                return createWebSocket(listener, List.of(draft));
            }

            @Override
            public WebSocketImpl createWebSocket(WebSocketAdapter listener, List<Draft> drafts) {
                return new Socket(LibraryServer.this, listener);
            }

            @Override
            public ByteChannel wrapChannel(SocketChannel channel, SelectionKey key) {
                Socket socket = (Socket) key.attachment();
                return new EdgeChannel(
                        channel, key, socket, new EdgeDraft(() -> false, EdgeEvents.NONE), socket.listener);
            }

            @Override
            public void close() {
                // nothing to close
            }
        }
    }

    private static final class Socket extends WebSocketImpl {
        final BlockingQueue<Socket> blocked = new LinkedBlockingQueue<>();
        final Blocking listener = new Blocking();
        volatile byte @Nullable [] late;
        private final LibraryServer server;
        private volatile @Nullable CountDownLatch release;

        Socket(LibraryServer server, WebSocketAdapter listener) {
            super(listener, List.of(new Draft_6455()));
            this.server = server;
        }

        CountDownLatch blockSelectorAtNextRead() {
            CountDownLatch latch = new CountDownLatch(1);
            release = latch;
            return latch;
        }

        /** Asked on the selector thread once the queue is empty; next the library gives up its interest in writing. */
        @Override
        public boolean isFlushAndClose() {
            byte[] frame = late;
            if (frame != null) {
                late = null;
                server.lateFrames.incrementAndGet();
                outQueue.add(ByteBuffer.wrap(frame.clone()));
                server.onWriteDemand(this);
            }
            return super.isFlushAndClose();
        }

        private final class Blocking implements EdgeChannel.Listener {
            @Override
            public void bytesRead() {
                CountDownLatch latch = release;
                if (latch != null) {
                    release = null;
                    blocked.add(Socket.this);
                    await(latch);
                }
            }

            private static void await(CountDownLatch latch) {
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }

            @Override
            public void bytesWritten(int bytes, boolean drained) {
                // of no interest
            }

            @Override
            public void ended() {
                // of no interest
            }
        }
    }
}
