package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.java_websocket.WebSocketImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EdgeChannelTest {
    private final Heard heard = new Heard();
    private Selector selector;
    private ServerSocketChannel listener;
    private SocketChannel peer;
    private WebSocketImpl owner;
    private SelectionKey key;
    private EdgeChannel channel;

    @BeforeEach
    void connect() throws IOException {
        selector = Selector.open();
        listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        peer = SocketChannel.open(listener.getLocalAddress());
        SocketChannel accepted = listener.accept();
        accepted.configureBlocking(false);
        EdgeDraft draft = new EdgeDraft(() -> false, EdgeEvents.NONE);
        EdgeServer unused = new EdgeServer(
                listener,
                new Connection.Surroundings(
                        EdgeRig.PATIENT,
                        StubPipe::new,
                        EdgeEvents.NONE,
                        System::nanoTime,
                        new ClientLog(System::nanoTime),
                        new SlowConsumers(),
                        EventIntake.NONE,
                        new Producers(),
                        Runnable::run),
                () -> false,
                () -> false);
        owner = new EdgeSocket(unused, draft);
        key = accepted.register(selector, SelectionKey.OP_READ, owner);
        channel = new EdgeChannel(accepted, key, owner, draft, heard);
    }

    @AfterEach
    void disconnect() throws IOException {
        channel.close();
        peer.close();
        listener.close();
        selector.close();
    }

    @Test
    void aWriteWakeUpThatTheLibraryOverwroteIsRepairedAfterARead() throws IOException {
        peer.write(ByteBuffer.allocate(1));
        selector.select();
        channel.read(ByteBuffer.allocate(10));
        owner.outQueue.add(ByteBuffer.allocate(5));
        key.interestOps(SelectionKey.OP_READ);

        boolean asked = channel.isNeedRead();
        channel.readMore(ByteBuffer.allocate(10));

        assertThat(asked).isTrue();
        assertThat(channel.isNeedRead()).isFalse();
        assertThat(key.interestOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    }

    @Test
    void nothingIsWokenForAnEmptyQueue() throws IOException {
        channel.readMore(ByteBuffer.allocate(10));

        assertThat(key.interestOps()).isEqualTo(SelectionKey.OP_READ);
    }

    @Test
    void aWriteThatTheSocketDoesNotTakeWholeAsksForAnotherTurn() throws IOException {
        ByteBuffer large = ByteBuffer.allocate(64 << 20);
        owner.outQueue.add(large);

        while (channel.write(large) > 0) {
            // until the socket is full
        }

        assertThat(large.hasRemaining()).isTrue();
        assertThat(key.interestOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        assertThat(heard.written).isEqualTo(large.position());
    }

    @Test
    void bytesTakenFromAFullSocketAreASignOfLife() throws IOException {
        ByteBuffer large = ByteBuffer.allocate(64 << 20);
        owner.outQueue.add(large);
        boolean aloneOnTheWire = !heard.drained;
        for (int i = 0; i < 100; i++) {
            channel.write(large);
        }

        ByteBuffer sink = ByteBuffer.allocate(1 << 20);
        while (!heard.drained) {
            sink.clear();
            peer.read(sink);
            channel.write(large);
        }

        assertThat(aloneOnTheWire).isTrue();
        assertThat(large.hasRemaining()).isTrue();
    }

    @Test
    void queuedBuffersLeaveInOneWrite() throws IOException {
        for (int i = 0; i < 10; i++) {
            owner.outQueue.add(ByteBuffer.allocate(100));
        }

        int written = channel.write(owner.outQueue.element());

        assertThat(written).isEqualTo(1_000);
        assertThat(owner.outQueue).noneMatch(ByteBuffer::hasRemaining);
    }

    @Test
    void theEndIsToldOnce() throws IOException {
        channel.close();
        channel.close();

        assertThat(heard.ends).isEqualTo(1);
    }

    private static final class Heard implements EdgeChannel.Listener {
        private long written;
        private boolean drained;
        private int ends;

        @Override
        public void bytesRead() {
            // not looked at
        }

        @Override
        public void bytesWritten(int bytes, boolean afterFull) {
            written += bytes;
            drained |= afterFull;
        }

        @Override
        public void ended() {
            ends++;
        }
    }
}
