package io.tabletrelay.api.tablet;

import static io.tabletrelay.api.tablet.TabletFamily.V1;
import static io.tabletrelay.api.tablet.TabletFamily.V2;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.SourceEvent;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Family V1, and that neither family's bytes are taken for the other's. */
class TabletFamilyTest {
    private static final int RANDOM_TABLETS = 2_000;
    private static final Set<TabletType> V1_TYPES = EnumSet.complementOf(EnumSet.of(TabletType.OBJECT));

    private final TabletCodec v1 = new TabletCodec(V1);
    private final TabletCodec v2 = new TabletCodec(V2);

    @Test
    void bytesOfV1HaveNoCategoryAndAMapOfOneByteMoreThanFullOnes() {
        Tablet.Builder tablet = Tablet.builder("d").column("s", TabletType.BOOLEAN);
        for (int row = 0; row < 8; row++) {
            tablet.row(row, row == 3 ? null : true);
        }
        TabletBytes expected = new TabletBytes()
                .string("d")
                .int32(8)
                .bytes(1)
                .int32(1)
                .columnOfFormerFamily("s", 0)
                .bytes(1);
        for (int row = 0; row < 8; row++) {
            expected.int64(row);
        }
        expected.bytes(1, 1).int32(8).int32(2).bytes(0b1000, 0).bytes(1, 1).bytes(1, 1, 1, 0, 1, 1, 1, 1);

        ByteBuffer encoded = v1.encode(tablet.build());

        assertThat(encoded).isEqualTo(expected.done());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 9, 64, 1000})
    void everyTypeOfV1ComesBackWithItsNulls(int rows) throws Exception {
        Tablet tablet = random(new Random(rows), V1_TYPES.size(), rows, List.copyOf(V1_TYPES));

        Tablet decoded = v1.decode(v1.encode(tablet));

        assertThat(contents(decoded)).isEqualTo(contents(tablet));
        assertThat(decoded.rows()).usingRecursiveComparison().isEqualTo(tablet.rows());
    }

    @ParameterizedTest
    @EnumSource(TabletFamily.class)
    void aNullMapOfEitherLengthIsRead(TabletFamily family) throws Exception {
        for (int mapBytes : new int[] {1, 2}) {
            TabletBytes bytes =
                    new TabletBytes().string("d").int32(8).bytes(1).int32(1).columnOfFormerFamily("s", 0);
            bytes.bytes(family == V2 ? new int[] {1} : new int[0]).bytes(1);
            for (int row = 0; row < 8; row++) {
                bytes.int64(row);
            }
            bytes.bytes(1, 1).int32(8).int32(mapBytes).bytes(0b1000_0000).raw(new byte[mapBytes - 1]);
            bytes.bytes(1, 1).raw(new byte[8]);

            Tablet tablet = new TabletCodec(family).decode(bytes.done());

            assertThat(tablet.isNull(7, 0)).as("map of %d bytes", mapBytes).isTrue();
            assertThat(tablet.isNull(6, 0)).as("map of %d bytes", mapBytes).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 9})
    void everyTruncationOfV1IsRefused(int rows) {
        ByteBuffer encoded = v1.encode(random(new Random(rows), V1_TYPES.size(), rows, List.copyOf(V1_TYPES)));

        for (int length = 0; length < encoded.limit(); length++) {
            TabletFormatException refusal = refusal(v1, encoded.slice(0, length));
            assertThat(refusal.byteOffset()).as("of length %d", length).isBetween(0L, (long) length);
            assertThat(refusal).hasMessageContaining("expected a tablet of family v1 (IoTDB 1.x)");
        }
    }

    @Test
    void aNullDateOfV1CarriesADateThatReadersAccept() {
        ByteBuffer encoded = v1.encode(Tablet.builder("d")
                .column("s", TabletType.DATE)
                .row(1, (Object) null)
                .build());

        assertThat(encoded.getInt(encoded.limit() - Integer.BYTES)).isEqualTo(10000101);
    }

    @Test
    void whatV1CannotSayIsRefusedWithTheReason() {
        Tablet object = Tablet.builder("d").column("s", TabletType.OBJECT).build();
        Tablet tag = Tablet.builder("t")
                .column(new TabletColumn("s", TabletType.TEXT, (byte) 0, (byte) 0, Map.of(), TabletColumn.Category.TAG))
                .build();

        assertThatThrownBy(() -> v1.encode(object))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("column cannot be written: column=s, type=OBJECT, tablet-format=v1; its readers do not know"
                        + " that type");
        assertThatThrownBy(() -> v1.encode(tag))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("column cannot be written: column=s, category=TAG, tablet-format=v1; it has fields only,"
                        + " its readers would take tags for measured values");
        assertThat(refusal(
                        v1,
                        new TabletBytes()
                                .string("d")
                                .int32(0)
                                .bytes(1)
                                .int32(1)
                                .columnOfFormerFamily("s", 12)
                                .bytes(1, 0, 1, 1)
                                .done()))
                .hasMessageStartingWith("byte 20: unknown column type: type=12");
    }

    @Test
    void bytesOfTheOtherFamilyAreRefusedWithItsNameAndWhatToSet() {
        Tablet tablet = random(new Random(1), 3, 5, List.copyOf(V1_TYPES));

        assertThat(refusal(v2, v1.encode(tablet)))
                .hasMessageMatching("byte \\d+: column is missing: column=1; expected a tablet of family v2"
                        + " \\(IoTDB 2.x\\), this is a whole one of family v1 \\(IoTDB 1.x\\): publish it to a pipe with"
                        + " tablet-format=v1");
        assertThat(refusal(v1, v2.encode(tablet)))
                .hasMessageMatching("byte \\d+: column name length is larger than .*; expected a tablet of family v1"
                        + " \\(IoTDB 1.x\\), this is a whole one of family v2 \\(IoTDB 2.x\\): publish it to a pipe with"
                        + " tablet-format=v2");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void bytesOfTheOtherFamilyAreRefusedUnlessTheySayTheSame(long seed) throws Exception {
        Random random = new Random(seed);
        int accepted = 0;

        for (int run = 0; run < RANDOM_TABLETS; run++) {
            Tablet tablet = random(random, random.nextInt(4), random.nextInt(12), List.copyOf(V1_TYPES));
            for (TabletCodec writer : List.of(v1, v2)) {
                ByteBuffer bytes = writer.encode(tablet);
                @Nullable Tablet read = decoded(writer == v1 ? v2 : v1, bytes);
                if (read != null) {
                    accepted++;
                    assertThat(contents(read)).as("seed %d, run %d", seed, run).isEqualTo(contents(tablet));
                }
                assertThat(contents(writer.decode(bytes))).isEqualTo(contents(tablet));
            }
        }

        assertThat(accepted).as("without columns or rows").isBetween(1, RANDOM_TABLETS);
    }

    /** As V1 the times would be 0x01000000_00000001 and the same values; V2's libraries write such bytes. */
    @ParameterizedTest
    @EnumSource(value = TabletType.class, mode = EnumSource.Mode.EXCLUDE, names = "OBJECT")
    void bytesThatCouldBeOfEitherFamilyAreTakenForV2(TabletType type) throws Exception {
        Tablet tablet = withoutNulls(type, 1, 257);
        ByteBuffer bytes = v2.encode(tablet);
        assertThat(new TabletReader(bytes, V1).read().time(0)).isEqualTo(0x01000000_00000001L);

        assertThat(v2.decode(bytes).time(0)).isEqualTo(257);
        assertThat(refusal(v1, bytes))
                .hasMessageStartingWith("byte 0: tablet could be of either family, with other times; expected a tablet"
                        + " of family v1 (IoTDB 1.x), this is a whole one of family v2 (IoTDB 2.x)");
    }

    @Test
    void tabletsOfOneColumnWithoutNullsAreNeverTakenForV1WhateverTheirTimesEndIn() {
        for (long time = 0; time < 1024; time++) {
            assertThat(refusal(v1, v2.encode(withoutNulls(TabletType.DOUBLE, 3, time))))
                    .as("time %d", time)
                    .isNotNull();
        }
    }

    @Test
    void theOptionNamesTheFamily() throws Exception {
        assertThat(TabletFamily.of(event(Map.of()))).isEqualTo(V2);
        assertThat(TabletFamily.of(event(Map.of("tablet-format", "v1")))).isEqualTo(V1);
        assertThat(TabletFamily.of(event(Map.of("tablet-format", "v2")))).isEqualTo(V2);
        assertThatThrownBy(() -> TabletFamily.of(event(Map.of("tablet-format", "V1"))))
                .isInstanceOf(BadEventException.class)
                .hasMessage("option not understood: tablet-format=V1; expected v1 or v2");
    }

    private static SourceEvent event(Map<String, String> options) {
        return new SourceEvent(new PipeName("p"), ByteBuffer.allocate(0), options);
    }

    private static Tablet withoutNulls(TabletType type, int rows, long lastTime) {
        Tablet.Builder tablet = Tablet.builder("root.sg.d1").column("s", type);
        for (int row = 0; row < rows; row++) {
            tablet.row(lastTime - rows + row + 1, value(new Random(row), type));
        }
        return tablet.build();
    }

    /** Times are any, or have first and last bytes that look like flags; one column in four has no nulls. */
    private static Tablet random(Random random, int columns, int rows, List<TabletType> types) {
        Tablet.Builder tablet = Tablet.builder("root.ü" + random.nextInt(100));
        TabletType[] typeOf = new TabletType[columns];
        int[] nullsInTen = new int[columns];
        for (int column = 0; column < columns; column++) {
            typeOf[column] = columns == types.size() ? types.get(column) : types.get(random.nextInt(types.size()));
            nullsInTen[column] = random.nextInt(4) * 3;
            tablet.column("s" + column, typeOf[column]);
        }
        for (int row = 0; row < rows; row++) {
            @Nullable Object[] cells = new @Nullable Object[columns];
            for (int column = 0; column < columns; column++) {
                boolean isNull = random.nextInt(10) < nullsInTen[column];
                cells[column] = isNull ? null : value(random, typeOf[column]);
            }
            long time = random.nextLong();
            boolean flags = random.nextBoolean();
            tablet.row(
                    flags ? (time & 0x00FFFFFF_FFFFFF00L) | random.nextInt(2) | (random.nextLong(2) << 56) : time,
                    cells);
        }
        return tablet.build();
    }

    private static Object value(Random random, TabletType type) {
        byte[] bytes = new byte[random.nextInt(5)];
        random.nextBytes(bytes);
        return switch (type) {
            case BOOLEAN -> random.nextBoolean();
            case INT32 -> random.nextBoolean() ? random.nextInt() : random.nextInt(3);
            case INT64, TIMESTAMP -> random.nextBoolean() ? random.nextLong() : random.nextLong(3);
            case FLOAT -> random.nextFloat();
            case DOUBLE -> random.nextDouble();
            case DATE -> LocalDate.ofEpochDay(random.nextInt(20_000));
            case TEXT, STRING -> "é" + random.nextInt(1000);
            case BLOB, OBJECT -> bytes;
        };
    }

    /** All that a tablet says. */
    private static ByteBuffer contents(Tablet tablet) {
        return new TabletCodec(V2).encode(tablet);
    }

    private static @Nullable Tablet decoded(TabletCodec codec, ByteBuffer bytes) {
        try {
            return codec.decode(bytes);
        } catch (TabletFormatException e) {
            return null;
        }
    }

    private static TabletFormatException refusal(TabletCodec codec, ByteBuffer bytes) {
        return catchThrowableOfType(TabletFormatException.class, () -> codec.decode(bytes));
    }
}
