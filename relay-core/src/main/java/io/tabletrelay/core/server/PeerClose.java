package io.tabletrelay.core.server;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.java_websocket.framing.CloseFrame;

/**
 * A client's close frame, read so that a broken one ends the connection too.
 *
 * <p>Threading: immutable.
 *
 * @param answerCode what it is answered with: its own code, or what is wrong with it
 * @param reason empty if there is none
 */
record PeerClose(int answerCode, String reason) {
    static PeerClose of(byte[] payload) {
        if (payload.length == 0) {
            return new PeerClose(CloseFrame.NORMAL, "");
        }
        if (payload.length == 1) {
            return new PeerClose(CloseFrame.PROTOCOL_ERROR, "");
        }
        ByteBuffer bytes = ByteBuffer.wrap(payload);
        int code = bytes.getShort() & 0xFFFF;
        if (!mayBeSent(code)) {
            return new PeerClose(CloseFrame.PROTOCOL_ERROR, "");
        }
        try {
            return new PeerClose(
                    code, StandardCharsets.UTF_8.newDecoder().decode(bytes).toString());
        } catch (CharacterCodingException e) {
            return new PeerClose(CloseFrame.NO_UTF8, "");
        }
    }

    private static boolean mayBeSent(int code) {
        return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
    }
}
