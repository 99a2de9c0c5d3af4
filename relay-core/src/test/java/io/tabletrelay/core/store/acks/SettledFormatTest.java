package io.tabletrelay.core.store.acks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SettledFormatTest {
    private static final long[] BLOCKS = {0, 1, 511, 0xFF_FFFF, 0x100_0000, 0x123_4567_89ABL};
    private static final int[] BITS = {0, 1, -1, 0x8000_0000, 0x5555_5555, 0x1234_5678};

    private final ByteBuffer header = ByteBuffer.allocateDirect(SettledFormat.HEADER_BYTES);

    @Test
    void aWordGivesBackItsBitsToItsOwnBlock() {
        for (long block : BLOCKS) {
            for (int bits : BITS) {
                assertThat(SettledFormat.bits(SettledFormat.word(block, bits), block))
                        .isEqualTo(bits);
            }
        }
    }

    @Test
    void everyFlipOfUpToThreeBitsInAWordIsFound() {
        for (long block : BLOCKS) {
            for (int bits : BITS) {
                long word = SettledFormat.word(block, bits);
                for (int i = 0; i < 64; i++) {
                    for (int j = i; j < 64; j++) {
                        for (int k = j; k < 64; k++) {
                            long flips = i == j ? 1L << i | 1L << k : 1L << i | 1L << j | 1L << k;
                            if (SettledFormat.bits(word ^ flips, block) != 0) {
                                throw new AssertionError("block=" + block + ", bits=" + bits + ", flips=" + flips);
                            }
                        }
                    }
                }
            }
        }
    }

    @Test
    void everyByteOfAWordHasToBeRight() {
        for (long block : BLOCKS) {
            for (int bits : BITS) {
                long word = SettledFormat.word(block, bits);
                for (int at = 0; at < 64; at += 8) {
                    for (long change = 1; change < 256; change++) {
                        assertThat(SettledFormat.bits(word ^ change << at, block))
                                .isZero();
                    }
                }
            }
        }
    }

    @Test
    void aWordOfAnEarlierLapOfTheBlockNumberSettlesNothing() {
        long lap = 1L << 24;
        long block = 77 + 40 * lap;

        for (int laps = 1; laps < 256; laps++) {
            long before = SettledFormat.word(block + laps * lap, -1);

            assertThat(SettledFormat.bits(before, block)).as("laps=%d", laps).isZero();
        }
    }

    @Test
    void emptyAndFullBytesSettleNothing() {
        for (long block = 0; block < 1 << 16; block++) {
            assertThat(SettledFormat.bits(0, block)).isZero();
            assertThat(SettledFormat.bits(-1L, block)).isZero();
        }
    }

    @Test
    void aRiseThatWasKilledBetweenItsStoresLeavesTheOldValue() {
        TwinLong.init(header, SettledFormat.DELIVERED_AT, 7);
        TwinLong twin = TwinLong.read(header, SettledFormat.DELIVERED_AT);
        for (long value = 8; value < 40; value++) {
            byte[] before = bytes();
            twin.raiseTo(value);
            int place = SettledFormat.DELIVERED_AT + (value % 2 == 0 ? 16 : 0);
            ByteBuffer killed = ByteBuffer.allocateDirect(before.length).put(before);

            killed.put(place, bytes(), place, Long.BYTES);

            TwinLong found = TwinLong.read(killed, SettledFormat.DELIVERED_AT);
            assertThat(killed.getLong(place))
                    .isNotEqualTo(ByteBuffer.wrap(before).getLong(place));
            assertThat(found.value()).isEqualTo(value - 1);
            found.raiseTo(value + 5);
            assertThat(TwinLong.read(killed, SettledFormat.DELIVERED_AT).value())
                    .isEqualTo(value + 5);
            assertThat(TwinLong.read(header, SettledFormat.DELIVERED_AT).value())
                    .isEqualTo(value);
        }
    }

    @Test
    void aDamagedTwinGivesWayToTheOtherAndNeverReadsAsSomethingElse() {
        Random random = new Random(5);
        TwinLong.init(header, SettledFormat.SETTLED_BELOW_AT, 1000);
        TwinLong.read(header, SettledFormat.SETTLED_BELOW_AT).raiseTo(1001);

        for (int i = 0; i < 2000; i++) {
            ByteBuffer damaged =
                    ByteBuffer.allocateDirect(SettledFormat.HEADER_BYTES).put(bytes());
            int at = SettledFormat.SETTLED_BELOW_AT + random.nextInt(TwinLong.BYTES);
            damaged.put(at, (byte) (damaged.get(at) ^ 1 << random.nextInt(8)));

            assertThat(TwinLong.isReadable(damaged, SettledFormat.SETTLED_BELOW_AT))
                    .isTrue();
            assertThat(TwinLong.read(damaged, SettledFormat.SETTLED_BELOW_AT).value())
                    .isBetween(1000L, 1001L);
        }
    }

    @Test
    void aValueDoesNotPassForAnotherField() {
        TwinLong.init(header, SettledFormat.DELIVERED_AT, 9);
        byte[] delivered = bytes();

        header.put(SettledFormat.SETTLED_BELOW_AT, delivered, SettledFormat.DELIVERED_AT, TwinLong.BYTES);

        assertThat(TwinLong.isReadable(header, SettledFormat.SETTLED_BELOW_AT)).isFalse();
    }

    private byte[] bytes() {
        byte[] bytes = new byte[SettledFormat.HEADER_BYTES];
        header.get(0, bytes);
        return bytes;
    }
}
