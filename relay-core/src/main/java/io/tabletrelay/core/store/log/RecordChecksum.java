package io.tabletrelay.core.store.log;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The CRC32C of a record: over the log's salt, where it has one, and all bytes of the record but those of the checksum. A
 * publisher does not know the salt, so that no bytes of a payload pass for an event when a damaged segment is searched.
 *
 * <p>Threading: confined to the thread that uses its log or cursor.
 */
final class RecordChecksum {
    /** Of records that no search looks for. */
    static final long NO_SALT = 0;

    private final CRC32C crc = new CRC32C();
    private final byte[] salt;

    RecordChecksum(long salt) {
        this.salt = salt == NO_SALT
                ? new byte[0]
                : ByteBuffer.allocate(Long.BYTES).putLong(salt).array();
    }

    /** The record lies from 0 to limit; the position ends at 0. */
    int of(ByteBuffer record) {
        int limit = record.limit();
        crc.reset();
        crc.update(salt);
        crc.update(record.limit(RecordFormat.CRC_OFFSET).position(0));
        crc.update(record.limit(limit).position(RecordFormat.CRC_OFFSET + Integer.BYTES));
        record.position(0);
        return (int) crc.getValue();
    }
}
