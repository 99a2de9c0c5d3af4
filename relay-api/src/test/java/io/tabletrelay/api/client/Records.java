package io.tabletrelay.api.client;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Data frames as the relay sends them. */
final class Records {
    static final String READY =
            "READY:{\"pipe\":\"p\",\"subscription\":\"default\",\"epoch\":7,\"next\":1,\"backlog\":0,\"contentType\":\"\","
                    + "\"window\":1024,\"order\":\"relaxed\",\"durability\":\"process\"}";

    private Records() {}

    /** Events with the ids from first to last, delivered for the nth time; each payload is {@code e} and the id. */
    static byte[] events(long first, long last, int delivery) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        for (long id = first; id <= last; id++) {
            frame.writeBytes(event(id, delivery, 0, ("e" + id).getBytes(StandardCharsets.UTF_8)));
        }
        return frame.toByteArray();
    }

    static byte[] event(long id, int delivery, int flags, byte[] payload) {
        return ByteBuffer.allocate(24 + payload.length)
                .putLong(id)
                .putLong(1_000 + id)
                .putShort((short) delivery)
                .putShort((short) flags)
                .putInt(payload.length)
                .put(payload)
                .array();
    }

    static byte[] eventWithHeaders(long id, String headers, byte[] payload) {
        byte[] block = headers.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(28 + block.length + payload.length)
                .putLong(id)
                .putLong(1_000 + id)
                .putShort((short) 1)
                .putShort((short) 1)
                .putInt(payload.length)
                .putInt(block.length)
                .put(block)
                .put(payload)
                .array();
    }

    static String readyToPublish(long last, int credit) {
        return "READY:{\"pipe\":\"p\",\"epoch\":7,\"last\":" + last + ",\"credit\":" + credit
                + ",\"creditBytes\":50,\"maxBytes\":1000,\"durability\":\"process\"}";
    }
}
