package io.tabletrelay.core.server;

import java.nio.ByteBuffer;
import org.java_websocket.enums.Opcode;
import org.java_websocket.framing.FramedataImpl1;

/**
 * A whole frame that a client sent, or, as the last of them, what was wrong with the bytes that followed.
 *
 * <p>Threading: immutable.
 */
final class ClientFrame extends FramedataImpl1 {
    private final byte[] payload;
    private final int violation;
    private final String complaint;

    private ClientFrame(Opcode opcode, byte[] payload, int violation, String complaint) {
        super(opcode);
        this.payload = payload;
        this.violation = violation;
        this.complaint = complaint;
        setPayload(ByteBuffer.wrap(payload));
    }

    static ClientFrame of(Opcode opcode, byte[] payload) {
        return new ClientFrame(opcode, payload, 0, "");
    }

    static ClientFrame violation(int closeCode, String complaint) {
        return new ClientFrame(Opcode.CLOSING, new byte[0], closeCode, complaint);
    }

    byte[] payload() {
        return payload;
    }

    /** The close code for bytes that are no frame; 0 for a frame. */
    int violation() {
        return violation;
    }

    String complaint() {
        return complaint;
    }

    @Override
    public void isValid() {
        // checked when it was read
    }
}
