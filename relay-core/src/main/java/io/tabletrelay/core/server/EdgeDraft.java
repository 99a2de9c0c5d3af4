package io.tabletrelay.core.server;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.java_websocket.WebSocketImpl;
import org.java_websocket.drafts.Draft;
import org.java_websocket.drafts.Draft_6455;
import org.java_websocket.enums.HandshakeState;
import org.java_websocket.exceptions.IncompleteHandshakeException;
import org.java_websocket.exceptions.InvalidHandshakeException;
import org.java_websocket.framing.Framedata;
import org.java_websocket.handshake.ClientHandshake;
import org.java_websocket.handshake.HandshakeBuilder;
import org.java_websocket.handshake.Handshakedata;
import org.java_websocket.handshake.ServerHandshakeBuilder;
import org.java_websocket.protocols.Protocol;
import org.jspecify.annotations.Nullable;

/**
 * How one connection speaks RFC 6455: the library answers the handshake, after our checks; frames are read by {@link
 * FrameReader} and written by {@code FrameCodec}. There is no compression; the sub-protocol says which dialect is spoken.
 *
 * <p>Threading: confined to the connection's worker thread; the refusal may be read by any thread.
 */
final class EdgeDraft extends Draft_6455 {
    private static final int MAX_REQUEST_BYTES = 8192;
    private static final int FIRST_REQUEST_BYTES = 512;
    private static final int MAX_FRAME_BYTES = 65_536;
    private static final String DIALECT_2 = "tablet-relay.v2";
    private static final String SUB_PROTOCOL = "Sec-WebSocket-Protocol";
    private static final byte[] END_OF_REQUEST = {'\r', '\n', '\r', '\n'};

    private final BooleanSupplier stopping;
    private final EdgeEvents events;
    private final FrameReader reader = new FrameReader(MAX_FRAME_BYTES);
    private volatile @Nullable ByteBuffer refusal;
    private volatile int answerBytes;
    private volatile boolean dialect2;

    EdgeDraft(BooleanSupplier stopping, EdgeEvents events) {
        super(List.of(), List.of(new Protocol("")), MAX_FRAME_BYTES);
        this.stopping = stopping;
        this.events = events;
    }

    /** The HTTP answer that refuses the handshake, to be written instead of the library's; null unless refused. */
    @Nullable
    ByteBuffer refusal() {
        return refusal;
    }

    /** True: the client asked for dialect 2, and was told that it has it. */
    boolean dialect2() {
        return dialect2;
    }

    /** Messages of this many bytes are taken from now on, in one frame or in fragments. Dialect 2 only. */
    void takeMessages(int maxBytes) {
        reader.takeMessages(maxBytes);
    }

    /** Size of the answer that accepted the handshake: the first bytes on the wire. */
    int answerBytes() {
        return answerBytes;
    }

    /** Each connection has a draft of its own already. */
    @Override
    public Draft copyInstance() {
        return this;
    }

    @Override
    public Handshakedata translateHandshake(ByteBuffer request) throws InvalidHandshakeException {
        int requestBytes = requestBytes(request);
        if (requestBytes > MAX_REQUEST_BYTES) {
            refuse("431 Request Header Fields Too Large");
            throw new InvalidHandshakeException("request too large");
        }
        try {
            return super.translateHandshake(request);
        } catch (IncompleteHandshakeException e) {
            // what came so far is kept in a buffer of this size; the library would take one of 64 KiB
            throw new IncompleteHandshakeException(Math.max(FIRST_REQUEST_BYTES, requestBytes));
        } catch (InvalidHandshakeException e) {
            refuse("404 Not Found");
            throw e;
        }
    }

    /** Size of the request up to its blank line, or of what has come of it so far; bytes behind it are frames. */
    private static int requestBytes(ByteBuffer request) {
        int matched = 0;
        for (int i = request.position(); i < request.limit(); i++) {
            byte next = request.get(i);
            matched = next == END_OF_REQUEST[matched] ? matched + 1 : next == '\r' ? 1 : 0;
            if (matched == END_OF_REQUEST.length) {
                return i + 1 - request.position();
            }
        }
        return request.remaining();
    }

    @Override
    public HandshakeState acceptHandshakeAsServer(ClientHandshake request) throws InvalidHandshakeException {
        if (stopping.getAsBoolean()) {
            refuse("503 Service Unavailable");
            return HandshakeState.NOT_MATCHED;
        }
        if (!basicAccept(request) || request.getFieldValue("Sec-WebSocket-Key").isBlank()) {
            refuse("404 Not Found");
            return HandshakeState.NOT_MATCHED;
        }
        if (!request.getFieldValue("Sec-WebSocket-Version").trim().equals("13")) {
            refuse("426 Upgrade Required\r\nSec-WebSocket-Version: 13");
            return HandshakeState.NOT_MATCHED;
        }
        if (!chooseDialect(request.getFieldValue(SUB_PROTOCOL))) {
            refuse(
                    "400 Bad Request",
                    "no such sub-protocol; ask for " + DIALECT_2 + ", or for none to speak dialect 1");
            return HandshakeState.NOT_MATCHED;
        }
        HandshakeState state = super.acceptHandshakeAsServer(request);
        if (state != HandshakeState.MATCHED) {
            refuse("404 Not Found");
        }
        return state;
    }

    /** False: only protocols are offered that we do not speak. The library puts a semicolon between two header lines. */
    private boolean chooseDialect(String offered) {
        if (offered.isBlank()) {
            return true;
        }
        for (String protocol : offered.split("[,;]", -1)) {
            if (protocol.trim().equals(DIALECT_2)) {
                dialect2 = true;
                reader.takeMessages(MAX_FRAME_BYTES);
                return true;
            }
        }
        return false;
    }

    private void refuse(String statusAndHeaders) {
        refuse(statusAndHeaders, "");
    }

    private void refuse(String statusAndHeaders, String reason) {
        String answer = "HTTP/1.1 " + statusAndHeaders + "\r\nContent-Length: " + reason.length()
                + "\r\nConnection: close\r\n\r\n" + reason;
        refusal = ByteBuffer.wrap(answer.getBytes(StandardCharsets.US_ASCII));
        events.handshakeRefused();
    }

    @Override
    public HandshakeBuilder postProcessHandshakeResponseAsServer(
            ClientHandshake request, ServerHandshakeBuilder response) throws InvalidHandshakeException {
        HandshakeBuilder answer = super.postProcessHandshakeResponseAsServer(request, response);
        answer.put("Server", "tablet-relay");
        if (dialect2) {
            answer.put(SUB_PROTOCOL, DIALECT_2);
        }
        return answer;
    }

    @Override
    public List<ByteBuffer> createHandshake(Handshakedata answer, boolean withContent) {
        List<ByteBuffer> buffers = super.createHandshake(answer, withContent);
        answerBytes = buffers.stream().mapToInt(ByteBuffer::remaining).sum();
        return buffers;
    }

    @Override
    public List<Framedata> translateFrame(ByteBuffer bytes) {
        return reader.read(bytes);
    }

    @Override
    public void processFrame(WebSocketImpl socket, Framedata frame) {
        ((EdgeSocket) socket).connection().frame((ClientFrame) frame);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
