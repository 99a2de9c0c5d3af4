package io.tabletrelay.api.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A WebSocket server that says only what the test tells it to.
 *
 * <p>Threading: made and closed by the test; one daemon thread accepts.
 */
final class ScriptedServer implements AutoCloseable {
    private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final BlockingQueue<ScriptedPeer> peers = new LinkedBlockingQueue<>();
    private final List<ScriptedPeer> all = new CopyOnWriteArrayList<>();
    private final String subprotocolHeader;

    ScriptedServer() throws IOException {
        this("Sec-WebSocket-Protocol: tablet-relay.v2\r\n");
    }

    ScriptedServer(String subprotocolHeader) throws IOException {
        this.subprotocolHeader = subprotocolHeader;
        ClientLoop.daemon(this::acceptAll, "scripted-server").start();
    }

    URI address() {
        return URI.create("ws://127.0.0.1:" + socket.getLocalPort() + "/");
    }

    private void acceptAll() {
        try {
            while (true) {
                Socket accepted = socket.accept();
                accepted.setTcpNoDelay(true);
                ScriptedPeer peer = new ScriptedPeer(accepted);
                all.add(peer);
                if (peer.handshake(subprotocolHeader)) {
                    peers.add(peer);
                }
            }
        } catch (IOException e) {
            // closed
        }
    }

    /** Waits for the next connection. */
    ScriptedPeer next() throws InterruptedException {
        ScriptedPeer peer = peers.poll(20, TimeUnit.SECONDS);
        if (peer == null) {
            throw new AssertionError("nobody connected");
        }
        return peer;
    }

    /** True if nobody connects in that time. */
    boolean isLeftAlone(long millis) throws InterruptedException {
        return peers.poll(millis, TimeUnit.MILLISECONDS) == null;
    }

    @Override
    public void close() throws IOException {
        socket.close();
        all.forEach(ScriptedPeer::reset);
    }
}
