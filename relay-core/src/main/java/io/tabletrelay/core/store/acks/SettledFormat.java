package io.tabletrelay.core.store.acks;

/**
 * Bytes of a settled-ids file: a header of {@value #HEADER_BYTES} bytes, then 64-bit words, little-endian.
 *
 * <pre>
 *  0 magic and version      8 size of the file in bytes     16 check of the size
 * 32 deliveredUpTo, twice (value, check)                    64 settledBelow, twice (value, check)
 * 96 appendedUpTo, twice (value, check)
 * 128 words: 24 bits block number | 32 bits, one per id | 8 bits check
 * </pre>
 *
 * <p>Block b holds the ids from 32 b to 32 b + 31 and lives in word b modulo the number of words. The check is a CRC-8
 * (polynomial 0x07, finds up to three flipped bits in a word) with the next eight bits of the block number laid over it, so
 * that a word left behind by a block can pass for another's only if their ids are a multiple of 2^37 apart.
 */
final class SettledFormat {
    static final long MAGIC = 0x5452_5345_544C_0001L;
    static final int MAGIC_AT = 0;
    static final int SIZE_AT = 8;
    static final int SIZE_CHECK_AT = 16;
    static final int DELIVERED_AT = 32;
    static final int SETTLED_BELOW_AT = 64;
    static final int APPENDED_AT = 96;
    static final int HEADER_BYTES = 128;
    static final int IDS_PER_WORD = 32;
    static final int FIRST_BYTES = 4096;

    private static final int BLOCK_BITS = 24;
    private static final long BLOCK_MASK = (1L << BLOCK_BITS) - 1;
    private static final int CHECK_START = 0x5A;
    private static final byte[] CRC8 = crc8Table();

    private SettledFormat() {}

    static int words(int fileBytes) {
        return (fileBytes - HEADER_BYTES) / Long.BYTES;
    }

    static long block(long id) {
        return id >>> 5;
    }

    static int bit(long id) {
        return 1 << (int) (id & 31);
    }

    static long word(long block, int bits) {
        return (block & BLOCK_MASK) << 40 | (bits & 0xFFFF_FFFFL) << 8 | check(block, bits);
    }

    /** Returns the bits of a word if it is whole and that block's; else none. */
    static int bits(long word, long block) {
        int bits = (int) (word >>> 8);
        return word == word(block, bits) ? bits : 0;
    }

    /** The newest block up to the last one whose word this is; -1: none's. */
    static long blockOf(long word, long lastBlock) {
        int bits = (int) (word >>> 8);
        long lap = lastBlock >>> BLOCK_BITS;
        for (long oldest = Math.max(0, lap - 255); lap >= oldest; lap--) {
            long block = lap << BLOCK_BITS | word >>> 40;
            if (block <= lastBlock && word == word(block, bits)) {
                return block;
            }
        }
        return -1;
    }

    private static int check(long block, int bits) {
        long checked = (block & BLOCK_MASK) << 32 | (bits & 0xFFFF_FFFFL);
        int crc = CHECK_START;
        for (int shift = 48; shift >= 0; shift -= 8) {
            int octet = (int) (checked >>> shift) & 0xFF;
            crc = CRC8[crc ^ octet] & 0xFF;
        }
        int lap = (int) (block >>> BLOCK_BITS) & 0xFF;
        return crc ^ lap;
    }

    /** Check of a header value; its place goes in, so that no value can stand in for another. */
    static long headerCheck(long value, int place) {
        long mixed = value ^ MAGIC ^ (long) place << 56;
        mixed = (mixed ^ mixed >>> 33) * 0xFF51_AFD7_ED55_8CCDL;
        mixed = (mixed ^ mixed >>> 33) * 0xC4CE_B9FE_1A85_EC53L;
        return mixed ^ mixed >>> 33;
    }

    private static byte[] crc8Table() {
        byte[] table = new byte[256];
        for (int i = 0; i < table.length; i++) {
            int crc = i;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 0x80) == 0 ? crc << 1 : crc << 1 ^ 0x107;
            }
            table[i] = (byte) crc;
        }
        return table;
    }
}
