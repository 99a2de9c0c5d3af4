package io.tabletrelay.api.tablet;

import java.nio.ByteBuffer;

/**
 * Tablets to and from the bytes of {@code Tablet.serialize()} in the libraries of one {@link TabletFamily}.
 *
 * <p>The format has no magic number, no length and no checksum, and nothing in it says of which family it is. So decoding
 * checks each byte that can be checked, and that the last one is the buffer's last.
 *
 * <p>Some bytes are whole tablets of both families. Without columns or without rows they say the same in both. Otherwise
 * nothing tells the families apart, and the bytes are taken for V2: its libraries write one in 256 of their tablets of one
 * column without nulls like that (the last time ends in the byte 01; read as V1 all times would be shifted by a byte).
 * As V1 such a tablet lacks the null map of that one column and not those of all, which V1's libraries never write, and
 * its first time begins with the byte 01: in nanoseconds the years 1972 to 1974, in anything coarser no time at all. The
 * codec of V1 refuses it.
 *
 * <p>Threading: immutable.
 */
public final class TabletCodec {
    private final TabletFamily family;

    public TabletCodec(TabletFamily family) {
        this.family = family;
    }

    /**
     * Reads one tablet from the buffer's position to its limit, neither of which moves. Never allocates more than a small
     * multiple of the bytes that are there.
     *
     * @throws TabletFormatException for anything but exactly one whole tablet of the family
     */
    public Tablet decode(ByteBuffer bytes) throws TabletFormatException {
        Tablet tablet;
        try {
            tablet = new TabletReader(bytes, family).read();
        } catch (TabletFormatException e) {
            throw new TabletFormatException(e.byteOffset(), e.problem() + expected(isOfOtherFamily(bytes)));
        }
        if (family == TabletFamily.V1) {
            refuseV2(tablet, bytes);
        }
        return tablet;
    }

    /**
     * Returns the tablet's bytes in a new buffer of their size.
     *
     * @throws IllegalArgumentException for a column that the family cannot say
     */
    public ByteBuffer encode(Tablet tablet) {
        return new TabletWriter(tablet, family).write();
    }

    private boolean isOfOtherFamily(ByteBuffer bytes) {
        try {
            new TabletReader(bytes, family.other()).read();
            return true;
        } catch (TabletFormatException e) {
            return false;
        }
    }

    private void refuseV2(Tablet asV1, ByteBuffer bytes) throws TabletFormatException {
        Tablet asV2;
        try {
            asV2 = new TabletReader(bytes, TabletFamily.V2).read();
        } catch (TabletFormatException e) {
            return;
        }
        ByteBuffer content = new TabletWriter(asV1, TabletFamily.V2).write();
        if (!content.equals(new TabletWriter(asV2, TabletFamily.V2).write())) {
            throw new TabletFormatException(0, "tablet could be of either family, with other times" + expected(true));
        }
    }

    private String expected(boolean isOfOtherFamily) {
        String expected = "; expected a tablet of family " + family.described();
        if (!isOfOtherFamily) {
            return expected;
        }
        TabletFamily other = family.other();
        return expected + ", this is a whole one of family " + other.described() + ": publish it to a pipe with "
                + TabletFamily.OPTION + "=" + other.word();
    }
}
