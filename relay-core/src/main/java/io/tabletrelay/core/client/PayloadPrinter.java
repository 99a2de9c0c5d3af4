package io.tabletrelay.core.client;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Makes a payload readable: text as it is, anything else in hexadecimal digits. */
public final class PayloadPrinter {
    /** Returns what to print, without a line end behind it. */
    public String print(ByteBuffer payload) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(payload.duplicate())
                    .toString()
                    .stripTrailing();
        } catch (CharacterCodingException notText) {
            byte[] bytes = new byte[payload.remaining()];
            payload.duplicate().get(bytes);
            return HexFormat.of().formatHex(bytes);
        }
    }
}
