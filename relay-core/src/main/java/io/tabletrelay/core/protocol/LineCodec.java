package io.tabletrelay.core.protocol;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;

/**
 * Dialect 1's control lines. The verb is what stands before the first colon, matched whole and case-sensitively; the
 * argument is the rest, taken literally.
 */
public final class LineCodec {
    /** Told to a consumer that is bound. */
    public static final String READY = "READY";

    /** Told to a consumer that is not bound, because another one is. */
    public static final String ERROR = "ERROR";

    /** Digits of the largest id. */
    private static final int MAX_ID_DIGITS = 19;

    private LineCodec() {}

    /** What the line says; throws for everything that is not exactly a line of dialect 1. */
    public static Line decode(String line) throws ProtocolException {
        int colon = line.indexOf(':');
        if (colon < 0) {
            throw new ProtocolException("a line without a colon");
        }
        String argument = line.substring(colon + 1);
        return switch (line.substring(0, colon)) {
            case "BIND" -> new Line.Bind(pipeName(argument));
            case "ACK" -> new Line.Ack(id(argument));
            case "ERROR" -> new Line.Nack(id(argument));
            default -> throw new ProtocolException("an unknown verb");
        };
    }

    private static PipeName pipeName(String text) throws ProtocolException {
        try {
            return new PipeName(text);
        } catch (RelayException e) {
            throw new ProtocolException(e.reason());
        }
    }

    private static long id(String text) throws ProtocolException {
        if (text.isEmpty() || text.length() > MAX_ID_DIGITS) {
            throw new ProtocolException("an id that does not have 1 to " + MAX_ID_DIGITS + " digits");
        }
        long id = 0;
        for (int i = 0; i < text.length(); i++) {
            char digit = text.charAt(i);
            if (digit < '0' || digit > '9') {
                throw new ProtocolException("an id that is not all digits");
            }
            id = id * 10 + (digit - '0'); // 19 digits can pass the largest long once, and are negative then
        }
        if (id < 1) {
            throw new ProtocolException("an id that is not from 1 to " + Long.MAX_VALUE);
        }
        return id;
    }
}
