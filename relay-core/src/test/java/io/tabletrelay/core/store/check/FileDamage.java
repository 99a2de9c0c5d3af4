package io.tabletrelay.core.store.check;

import io.tabletrelay.core.store.IdRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * One thing that happens to one file.
 *
 * <p>Threading: immutable.
 *
 * @param file below the directory's root
 * @param at of a byte, of a page, or how long the file is afterwards
 * @param mask the bits that change; unused but for {@link Kind#FLIP}
 */
record FileDamage(Path file, Kind kind, long at, int mask) {
    private static final int PAGE_BYTES = 4096;
    private static final int[] MASKS = {0x01, 0x80, 0xFF};

    /** What can happen. */
    enum Kind {
        FLIP,
        ZEROED_PAGE,
        CUT,
        GONE
    }

    /** All that can happen to a file of which so many bytes are used: each byte, each page, each length. */
    static List<FileDamage> allOf(Path file, long size, long used) {
        List<FileDamage> all = new ArrayList<>();
        all.add(new FileDamage(file, Kind.GONE, 0, 0));
        for (long page = 0; page < used; page += PAGE_BYTES) {
            all.add(new FileDamage(file, Kind.ZEROED_PAGE, page, 0));
        }
        for (long length = 0; length < Math.min(size, used + 1); length++) {
            all.add(new FileDamage(file, Kind.CUT, length, 0));
        }
        for (long at = 0; at < used; at++) {
            for (int mask : MASKS) {
                all.add(new FileDamage(file, Kind.FLIP, at, mask));
            }
        }
        return all;
    }

    void to(Path root) throws IOException {
        Path path = root.resolve(file);
        if (kind == Kind.GONE) {
            Files.delete(path);
            return;
        }
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            switch (kind) {
                case FLIP -> {
                    ByteBuffer octet = ByteBuffer.allocate(1);
                    channel.read(octet, at);
                    channel.write(ByteBuffer.allocate(1).put(0, (byte) (octet.get(0) ^ mask)), at);
                }
                case ZEROED_PAGE ->
                    channel.write(ByteBuffer.allocate((int) Math.min(PAGE_BYTES, channel.size() - at)), at);
                default -> channel.truncate(at);
            }
        }
    }

    /** The bytes that may be other ones afterwards. */
    IdRange bytes() {
        return switch (kind) {
            case FLIP -> new IdRange(at, at);
            case ZEROED_PAGE -> new IdRange(at, at + PAGE_BYTES - 1);
            case CUT, GONE -> new IdRange(at, Long.MAX_VALUE);
        };
    }
}
