package io.tabletrelay.plugins.bytes;

import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.PayloadSink;
import io.tabletrelay.api.serializer.SourceEvent;
import java.util.regex.Pattern;

/**
 * Any bytes, none at all too, become one payload of the same bytes. Option {@code content-type} says what they are,
 * {@value #DEFAULT_CONTENT_TYPE} if it is not given.
 *
 * <p>Threading: immutable.
 */
public final class BytesSerializer implements EventSerializer {
    private static final String DEFAULT_CONTENT_TYPE = "application/octet-stream";
    private static final int LONGEST_CONTENT_TYPE = 255;

    /** Type, slash, subtype, then parameters of printable ASCII: nothing that could break out of a header line. */
    private static final Pattern CONTENT_TYPE = Pattern.compile("[\\w!#$&^.+-]+/[\\w!#$&^.+-]+( *;[ -~]*)?");

    @Override
    public int spiVersion() {
        return SPI_VERSION;
    }

    @Override
    public String sourceType() {
        return "bytes";
    }

    @Override
    public boolean threadSafe() {
        return true;
    }

    @Override
    public void serialize(SourceEvent event, PayloadSink sink) throws BadEventException {
        String contentType = event.option("content-type", DEFAULT_CONTENT_TYPE);
        if (!contentType.equals(DEFAULT_CONTENT_TYPE) && !isContentType(contentType)) {
            throw BadEventException.withoutPosition(
                    "option not understood: content-type=" + printable(contentType) + "; expected e.g. text/plain");
        }
        sink.add(contentType, event.bytes().slice());
    }

    private static boolean isContentType(String text) {
        return text.length() <= LONGEST_CONTENT_TYPE
                && CONTENT_TYPE.matcher(text).matches();
    }

    private static String printable(String text) {
        return text.substring(0, Math.min(text.length(), LONGEST_CONTENT_TYPE)).replaceAll("[^ -~]", "?");
    }
}
