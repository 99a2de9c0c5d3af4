package io.tabletrelay.api.tablet;

import java.nio.ByteBuffer;

/**
 * Tablets to and from the bytes of {@code Tablet.serialize()} in org.apache.tsfile 2.x, the libraries of IoTDB 2.x.
 *
 * <p>The format has no magic number, no length and no checksum, and IoTDB 1.x writes a different one that IoTDB 2.x
 * reads as garbage. So decoding checks each byte that can be checked, and that the last one is the buffer's last.
 *
 * <p>Threading: immutable.
 */
public final class TabletCodec {
    /** The content type of a tablet's bytes. */
    public static final String CONTENT_TYPE = "application/vnd.apache.iotdb.tablet";

    /**
     * Reads one tablet from the buffer's position to its limit, neither of which moves. Never allocates more than a small
     * multiple of the bytes that are there.
     *
     * @throws TabletFormatException for anything but exactly one whole tablet
     */
    public Tablet decode(ByteBuffer bytes) throws TabletFormatException {
        return new TabletReader(bytes).read();
    }

    /** Returns the tablet's bytes in a new buffer of their size. */
    public ByteBuffer encode(Tablet tablet) {
        return new TabletWriter(tablet).write();
    }
}
