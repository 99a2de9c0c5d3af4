package io.tabletrelay.harness;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.java_websocket.WebSocket;
import org.java_websocket.framing.Framedata;
import org.java_websocket.handshake.ClientHandshake;
import org.java_websocket.server.WebSocketServer;

/**
 * A WebSocket server that remembers all lines and pongs, answers BIND with READY or ERROR and pushes what the test says.
 *
 * <p>Threading: thread-safe by its collections.
 */
final class ScriptedRelay extends WebSocketServer implements AutoCloseable {
    private final CountDownLatch started = new CountDownLatch(1);
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<String> ends = new CopyOnWriteArrayList<>();
    private volatile String answerToBind = "READY";

    ScriptedRelay() throws InterruptedException {
        super(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        setReuseAddr(true);
        setConnectionLostTimeout(0);
        start();
        started.await();
    }

    void answerToBind(String line) {
        answerToBind = line;
    }

    /** All text lines, and {@code pong} for each pong, in order of arrival. */
    List<String> lines() {
        return lines;
    }

    /** How connections ended: codes. */
    List<String> ends() {
        return ends;
    }

    void push(long id, String payload) {
        byte[] bytes = payload.getBytes(StandardCharsets.UTF_8);
        broadcast(ByteBuffer.allocate(Long.BYTES + bytes.length)
                .putLong(id)
                .put(bytes)
                .flip());
    }

    void ping() {
        getConnections().forEach(WebSocket::sendPing);
    }

    @Override
    public void onMessage(WebSocket socket, String line) {
        lines.add(line);
        if (line.startsWith("BIND:")) {
            socket.send(answerToBind);
        } else if (line.startsWith("ECHO:")) {
            socket.send(line.substring(5));
        }
    }

    @Override
    public void onWebsocketPong(WebSocket socket, Framedata frame) {
        lines.add("pong");
    }

    @Override
    public void onStart() {
        started.countDown();
    }

    @Override
    public void onOpen(WebSocket socket, ClientHandshake handshake) {}

    @Override
    public void onClose(WebSocket socket, int code, String reason, boolean remote) {
        ends.add(String.valueOf(code));
    }

    @Override
    public void onError(WebSocket socket, Exception e) {}

    @Override
    public void close() {
        try {
            stop(1_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
