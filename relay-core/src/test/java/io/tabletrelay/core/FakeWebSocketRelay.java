package io.tabletrelay.core;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.java_websocket.WebSocket;
import org.java_websocket.handshake.ClientHandshake;
import org.java_websocket.server.WebSocketServer;

/**
 * A relay that binds everyone, sends all payloads that are not acked, and hangs up once in the middle if told to.
 *
 * <p>Threading: thread-safe by its monitor.
 */
final class FakeWebSocketRelay extends WebSocketServer {
    private final CountDownLatch started = new CountDownLatch(1);
    private final List<String> payloads;
    private final List<Long> ackedIds = new ArrayList<>();
    private long hangUpAtId;

    /** Starts listening; events have the ids 1, 2, 3 … in the order of the payloads. */
    FakeWebSocketRelay(long hangUpAtId, String... payloads) throws InterruptedException {
        super(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        this.hangUpAtId = hangUpAtId;
        this.payloads = List.of(payloads);
        setReuseAddr(true);
        setConnectionLostTimeout(1); // the library may lose the wake-up for a frame: its next ping takes it along
        start();
        started.await();
    }

    URI address() {
        return URI.create("ws://127.0.0.1:" + getPort());
    }

    synchronized List<Long> ackedIds() {
        return List.copyOf(ackedIds);
    }

    @Override
    public synchronized void onMessage(WebSocket socket, String line) {
        if (line.startsWith("ACK:")) {
            long id = Long.parseLong(line.substring(4));
            if (id == hangUpAtId) {
                hangUpAtId = 0;
                socket.closeConnection(1006, "hung up before the ack was read");
                return;
            }
            ackedIds.add(id);
        } else {
            socket.send("READY");
            for (long id = 1; id <= payloads.size(); id++) {
                if (!ackedIds.contains(id)) {
                    byte[] payload = payloads.get((int) id - 1).getBytes(StandardCharsets.UTF_8);
                    socket.send(ByteBuffer.allocate(8 + payload.length)
                            .putLong(id)
                            .put(payload)
                            .flip());
                }
            }
        }
    }

    @Override
    public void onStart() {
        started.countDown();
    }

    @Override
    public void onOpen(WebSocket socket, ClientHandshake handshake) {}

    @Override
    public void onClose(WebSocket socket, int code, String reason, boolean remote) {}

    @Override
    public void onError(WebSocket socket, Exception e) {}
}
