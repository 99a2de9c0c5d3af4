package io.tabletrelay.core.store.acks;

import io.tabletrelay.core.store.acks.AttemptJournal.Attempt;
import io.tabletrelay.core.store.acks.AttemptJournal.Change;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of an attempt journal: a magic number with the version, then records, big-endian.
 *
 * <pre>
 * uint32 crc32c of all that follows | uint16 body bytes | int64 id | int32 failed deliveries, 0 = forgotten
 * | int64 due at, ms since the epoch | reason, UTF-8
 * </pre>
 */
final class AttemptFormat {
    static final int MAX_REASON_BYTES = 500;
    static final int HEADER_BYTES = 8;

    private static final long MAGIC = 0x5452_4154_544D_0001L;
    private static final int PREFIX_BYTES = 6;
    private static final int FIXED_BYTES = 20;
    static final int MAX_RECORD_BYTES = PREFIX_BYTES + FIXED_BYTES + MAX_REASON_BYTES;

    private AttemptFormat() {}

    static byte[] file(Collection<Change> changes) {
        ByteBuffer records = write(changes);
        ByteBuffer file = ByteBuffer.allocate(HEADER_BYTES + records.remaining());
        return file.putLong(MAGIC).put(records).array();
    }

    static ByteBuffer write(Collection<Change> changes) {
        ByteBuffer out = ByteBuffer.allocate(
                changes.stream().mapToInt(AttemptFormat::mostBytes).sum());
        changes.forEach(change -> write(change, out));
        return out.flip();
    }

    private static int mostBytes(Change change) {
        int reasonChars =
                change.attempt() == null ? 0 : change.attempt().reason().length();
        return PREFIX_BYTES + FIXED_BYTES + Math.min(MAX_REASON_BYTES, 3 * reasonChars);
    }

    private static void write(Change change, ByteBuffer out) {
        Attempt attempt = change.attempt();
        byte[] reason = attempt == null ? new byte[0] : attempt.reason().getBytes(StandardCharsets.UTF_8);
        int start = out.position();
        out.putInt(0).putShort((short) (FIXED_BYTES + reason.length)).putLong(change.id());
        out.putInt(attempt == null ? 0 : attempt.failedDeliveries());
        out.putLong(attempt == null ? 0 : attempt.dueAtMillis()).put(reason);
        out.putInt(start, crc(out, start, out.position()));
    }

    /** Returns false if that is no journal, or one of another version. */
    static boolean readHeader(ByteBuffer in) {
        return in.remaining() >= HEADER_BYTES && in.getLong() == MAGIC;
    }

    /** Returns the next record, or null, the position unmoved, where there is no whole one. */
    static @Nullable Change read(ByteBuffer in) {
        int start = in.position();
        if (in.remaining() < PREFIX_BYTES + FIXED_BYTES) {
            return null;
        }
        int bodyBytes = in.getShort(start + Integer.BYTES) & 0xFFFF;
        int end = start + PREFIX_BYTES + bodyBytes;
        if (bodyBytes < FIXED_BYTES || end > in.limit() || in.getInt(start) != crc(in, start, end)) {
            return null;
        }
        in.position(start + PREFIX_BYTES);
        long id = in.getLong();
        int failedDeliveries = in.getInt();
        long dueAtMillis = in.getLong();
        byte[] reason = new byte[bodyBytes - FIXED_BYTES];
        in.get(reason);
        return new Change(
                id,
                failedDeliveries == 0
                        ? null
                        : new Attempt(id, failedDeliveries, dueAtMillis, new String(reason, StandardCharsets.UTF_8)));
    }

    /** Returns false if what stands at the position, to the end, is a record that was cut short, or was never written. */
    static boolean isDamaged(ByteBuffer in) {
        int start = in.position();
        boolean announcesMore = in.remaining() < PREFIX_BYTES + FIXED_BYTES
                || (start + PREFIX_BYTES + (in.getShort(start + Integer.BYTES) & 0xFFFF) > in.limit()
                        && !isWholeButItsLength(in));
        boolean zeros = true;
        for (int i = start; zeros && i < in.limit(); i++) {
            zeros = in.get(i) == 0;
        }
        return !announcesMore && !zeros;
    }

    /** A record that was cut short has not the checksum of what is there. */
    private static boolean isWholeButItsLength(ByteBuffer in) {
        if (in.remaining() > MAX_RECORD_BYTES) {
            return true;
        }
        ByteBuffer copy =
                ByteBuffer.allocate(in.remaining()).put(in.duplicate()).flip();
        copy.putShort(Integer.BYTES, (short) (copy.limit() - PREFIX_BYTES));
        return copy.getInt(0) == crc(copy, 0, copy.limit());
    }

    /** Cuts a text to the most UTF-8 bytes that a record holds, between two characters. */
    static String cut(String reason) {
        byte[] utf8 = reason.getBytes(StandardCharsets.UTF_8);
        if (utf8.length <= MAX_REASON_BYTES) {
            return reason;
        }
        int end = MAX_REASON_BYTES;
        while ((utf8[end] & 0xC0) == 0x80) {
            end--;
        }
        return new String(utf8, 0, end, StandardCharsets.UTF_8);
    }

    private static int crc(ByteBuffer bytes, int start, int end) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate().limit(end).position(start + Integer.BYTES));
        return (int) crc.getValue();
    }
}
