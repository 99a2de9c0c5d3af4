package io.tabletrelay.api.client;

import java.nio.ByteBuffer;

/** What goes out as one message. */
sealed interface Outgoing {
    record Line(String text) implements Outgoing {}

    /**
     * A binary message.
     *
     * @param bytes from position to limit; not touched until it is sent
     */
    record Frame(ByteBuffer bytes) implements Outgoing {}
}
