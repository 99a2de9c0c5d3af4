package io.tabletrelay.api.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TabletCodecTest {
    private static final String EXPECTED = "; expected a tablet of family v2 (IoTDB 2.x)";

    private final TabletCodec codec = new TabletCodec(TabletFamily.V2);

    @Test
    void everyTypeComesBackWithItsNulls() throws Exception {
        Tablet tablet = everyType(17);

        Tablet decoded = codec.decode(codec.encode(tablet));

        assertThat(decoded.target()).isEqualTo("root.wärme.d1");
        assertThat(decoded.columns()).isEqualTo(tablet.columns());
        assertThat(decoded.rows()).usingRecursiveComparison().isEqualTo(tablet.rows());
        assertThat(decoded.rowCount()).isEqualTo(17);
        assertThat(decoded.value(2, 2)).isNull();
        assertThat(decoded.isNull(2, 2)).isTrue();
        assertThat(decoded.value(4, 2)).isEqualTo(4L << 40);
    }

    @ParameterizedTest
    @EnumSource(TabletType.class)
    void aValueIsOfTheClassThatItsTypeNames(TabletType type) throws Exception {
        Tablet decoded = codec.decode(codec.encode(everyType(16)));
        int column = decoded.columns().stream().map(TabletColumn::type).toList().indexOf(type);

        Object value = decoded.value(column + 1, column);

        assertThat(value).isInstanceOf(type.javaType());
    }

    @Test
    void bytesAreThoseOfTheFormat() {
        Tablet tablet = Tablet.builder("d")
                .column("s", TabletType.INT32)
                .row(1, 7)
                .row(2, (Object) null)
                .build();

        ByteBuffer encoded = codec.encode(tablet);

        assertThat(encoded)
                .isEqualTo(new TabletBytes()
                        .string("d")
                        .int32(2)
                        .bytes(1)
                        .int32(1)
                        .column("s", 1)
                        .bytes(1)
                        .int64(1)
                        .int64(2)
                        .bytes(1, 1)
                        .int32(2)
                        .int32(1)
                        .bytes(0b10)
                        .bytes(1, 1)
                        .int32(7)
                        .int32(0)
                        .done());
    }

    @Test
    void encodingWhatWasDecodedGivesTheSameBytes() throws Exception {
        ByteBuffer encoded = codec.encode(everyType(9));

        assertThat(codec.encode(codec.decode(encoded))).isEqualTo(encoded);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 9, 1000})
    void anyNumberOfRowsComesBack(int rows) throws Exception {
        Tablet tablet = everyType(rows);

        Tablet decoded = codec.decode(codec.encode(tablet));

        assertThat(decoded.rows()).usingRecursiveComparison().isEqualTo(tablet.rows());
    }

    @Test
    void propertiesCategoriesAndEncodingsComeBack() throws Exception {
        TabletColumn column = new TabletColumn(
                "s", TabletType.DOUBLE, (byte) 8, (byte) 7, Map.of("unit", "°C"), TabletColumn.Category.ATTRIBUTE);
        Tablet tablet = Tablet.builder("t").column(column).row(1, 2.5).build();

        assertThat(codec.decode(codec.encode(tablet)).columns()).containsExactly(column);
    }

    @Test
    void aNullDateCarriesADateThatReadersAccept() throws Exception {
        Tablet tablet = Tablet.builder("d")
                .column("s", TabletType.DATE)
                .row(1, (Object) null)
                .build();

        ByteBuffer encoded = codec.encode(tablet);

        assertThat(encoded.getInt(encoded.limit() - 4)).isEqualTo(10000101);
        assertThat(codec.decode(encoded).value(0, 0)).isNull();
    }

    @Test
    void aDateThatIsNoneIsRefusedEvenWhereTheCellIsNull() {
        ByteBuffer encoded = codec.encode(Tablet.builder("d")
                .column("s", TabletType.DATE)
                .row(1, (Object) null)
                .build());
        encoded.putInt(encoded.limit() - 4, 2026_02_29);

        TabletFormatException refusal = refusal(encoded);

        assertThat(refusal.byteOffset()).isEqualTo(encoded.limit() - 4);
        assertThat(refusal).hasMessageContaining("not a date");
    }

    @Test
    void aColumnWithoutValuesIsAllNull() throws Exception {
        ByteBuffer bytes =
                head(2, "s", 5).bytes(1).int64(1).int64(2).bytes(0).bytes(1, 0).done();

        Tablet decoded = codec.decode(bytes);

        assertThat(decoded.rows())
                .extracting(Tablet.Row::values)
                .containsOnly(Arrays.asList((Object) null))
                .hasSize(2);
        assertThat(codec.decode(codec.encode(decoded)).isNull(1, 0)).isTrue();
    }

    @Test
    void aBinaryThatIsMarkedAbsentIsNull() throws Exception {
        ByteBuffer bytes =
                head(1, "s", 11).bytes(1).int64(1).bytes(0).bytes(1, 1, 0).done();

        assertThat(codec.decode(bytes).isNull(0, 0)).isTrue();
    }

    @Test
    void decodingLeavesTheBufferAsItWasAndStartsAtItsPosition() throws Exception {
        ByteBuffer encoded = codec.encode(everyType(3));
        ByteBuffer framed = ByteBuffer.allocate(encoded.remaining() + 12)
                .putLong(0)
                .put(encoded)
                .limit(encoded.limit() + 8)
                .position(8);

        Tablet decoded = codec.decode(framed.asReadOnlyBuffer());

        assertThat(decoded.rowCount()).isEqualTo(3);
        assertThat(framed.position()).isEqualTo(8);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 9})
    void everyTruncationIsRefused(int rows) {
        ByteBuffer encoded = codec.encode(everyType(rows));

        for (int length = 0; length < encoded.limit(); length++) {
            TabletFormatException refusal = refusal(encoded.slice(0, length));
            assertThat(refusal.byteOffset()).as("of length %d", length).isBetween(0L, (long) length);
        }
    }

    @Test
    void aByteTooManyIsRefusedWhereItStands() {
        ByteBuffer encoded = codec.encode(everyType(2));
        ByteBuffer longer =
                ByteBuffer.allocate(encoded.limit() + 1).put(encoded).rewind();

        assertThat(refusal(longer).byteOffset()).isEqualTo(encoded.limit());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void flippedBytesNeverThrowAnythingElse(long seed) {
        Random random = new Random(seed);
        byte[] valid = codec.encode(everyType(12)).array();
        int refused = 0;

        for (int run = 0; run < 10_000; run++) {
            byte[] damaged = valid.clone();
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            refused += isRefused(ByteBuffer.wrap(damaged), "seed " + seed + ", run " + run) ? 1 : 0;
        }

        assertThat(refused).isBetween(1_000, 9_999);
    }

    @Test
    void noiseIsNeverATabletAndNeverThrowsAnythingElse() {
        Random random = new Random(7);

        for (int run = 0; run < 20_000; run++) {
            byte[] noise = new byte[1 + random.nextInt(200)];
            random.nextBytes(noise);
            assertThat(isRefused(ByteBuffer.wrap(noise), "run " + run)).isTrue();
        }
    }

    @Test
    void hostileLengthsAreRefusedBeforeAnythingIsAllocated() {
        int huge = Integer.MAX_VALUE;
        List<TabletBytes> hostile = List.of(
                new TabletBytes().int32(huge),
                new TabletBytes().string("d").int32(huge).bytes(1).int32(0).bytes(1),
                new TabletBytes().string("d").int32(1).bytes(1).int32(huge),
                new TabletBytes()
                        .string("d")
                        .int32(1)
                        .bytes(1)
                        .int32(1)
                        .bytes(1)
                        .int32(huge),
                new TabletBytes()
                        .string("d")
                        .int32(1)
                        .bytes(1)
                        .int32(1)
                        .bytes(1)
                        .string("s")
                        .bytes(1, 0, 0)
                        .int32(huge),
                head(1, "s", 1).bytes(1).int64(0).bytes(1, 1).int32(huge).int32(huge / 8 + 1),
                head(1, "s", 11).bytes(1).int64(0).bytes(0, 1, 1, 1).int32(huge));

        for (TabletBytes bytes : hostile) {
            ByteBuffer padded = bytes.raw(new byte[64]).done();
            assertThat(refusal(padded)).isNotNull();
        }
    }

    @Test
    void negativeLengthsAreRefused() {
        assertThat(refusal(new TabletBytes().int32(-1).done())).hasMessageContaining("negative");
        assertThat(refusal(new TabletBytes().string("d").int32(-1).done())).hasMessageContaining("row count");
    }

    @Test
    void whatReadersCannotDoWithoutMustBeThere() {
        TabletBytes columnMissing =
                new TabletBytes().string("d").int32(1).bytes(1).int32(1).bytes(0);

        assertThat(refusal(new TabletBytes().string("d").int32(1).bytes(0).done()))
                .hasMessage("byte 9: tablet has no columns" + EXPECTED);
        assertThat(refusal(columnMissing.raw(new byte[13]).done()))
                .hasMessage("byte 14: column is missing: column=0" + EXPECTED);
        assertThat(refusal(head(1, "s", 1).bytes(0).int64(0).done())).hasMessageContaining("tablet has no times");
        assertThat(refusal(head(0, "s", 1).bytes(1, 0, 0).done())).hasMessageContaining("tablet has no values");
        assertThat(refusal(head(0, "s", 6).bytes(1, 0, 0).done())).hasMessageContaining("unknown column type: type=6");
    }

    @Test
    void textThatIsNotUtf8IsRefusedInNames() {
        ByteBuffer bytes = new TabletBytes().int32(3).bytes('d', 0xC3, '(').done();

        assertThat(refusal(bytes)).hasMessage("byte 5: device or table name is not UTF-8" + EXPECTED);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void bytesOfTheFormerFamilyAreRefused(int rows) {
        for (int columns = 1; columns <= 4; columns++) {
            for (long firstTime : new long[] {0, 1, -1, 1_700_000_000_000L, 0x0101010101010101L}) {
                ByteBuffer bytes = formerFamily(rows, columns, firstTime);
                assertThat(isRefused(bytes, "rows " + rows + ", columns " + columns + ", time " + firstTime))
                        .isTrue();
            }
        }
    }

    @Test
    void anEmptyBufferIsRefused() {
        assertThat(refusal(ByteBuffer.allocate(0)))
                .hasMessage("byte 0: tablet ends inside device or table name length: neededBytes=4, availableBytes=0"
                        + EXPECTED);
    }

    @Test
    void theBuilderRefusesWhatAColumnCannotHold() {
        Tablet.Builder builder = Tablet.builder("d").column("s", TabletType.INT64);

        assertThatThrownBy(() -> builder.row(1, 7))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("value does not fit its column: column=s, type=INT64, expected=Long, given=Integer");
        assertThatThrownBy(() -> builder.row(1)).hasMessageContaining("row does not fit the columns");
        assertThatThrownBy(
                        () -> Tablet.builder("d").column("day", TabletType.DATE).row(1, LocalDate.of(999, 1, 1)))
                .hasMessageContaining("date out of range");
    }

    /** One column of each type; the cells on the diagonal are null. */
    private static Tablet everyType(int rows) {
        Tablet.Builder builder = Tablet.builder("root.wärme.d1");
        for (TabletType type : TabletType.values()) {
            builder.column("s_" + type.name() + "_温度", type);
        }
        for (int row = 0; row < rows; row++) {
            @Nullable
            Object[] cells = {
                row % 2 == 0,
                row,
                (long) row << 40,
                row / 4f,
                row / 3d,
                "text " + row + " 😀",
                1_700_000_000_000L + row,
                LocalDate.of(2024, 2, 29).plusDays(row),
                new byte[] {(byte) row, 0, -1},
                row % 3 == 0 ? "" : "string " + row,
                ("object " + row).getBytes(StandardCharsets.UTF_8)
            };
            cells[row % cells.length] = null;
            builder.row(1_700_000_000_000L + row * 1000L, cells);
        }
        return builder.build();
    }

    private static TabletBytes head(int rows, String column, int type) {
        return new TabletBytes().string("d").int32(rows).bytes(1).int32(1).column(column, type);
    }

    /** INT32 columns, as written before the column category existed, with the longer null maps of that time. */
    private static ByteBuffer formerFamily(int rows, int columns, long firstTime) {
        TabletBytes bytes =
                new TabletBytes().string("root.sg.d1").int32(rows).bytes(1).int32(columns);
        for (int i = 0; i < columns; i++) {
            bytes.columnOfFormerFamily("s" + i, 1);
        }
        bytes.bytes(1);
        for (int row = 0; row < rows; row++) {
            bytes.int64(firstTime + row);
        }
        bytes.bytes(1);
        for (int i = 0; i < columns; i++) {
            bytes.bytes(1).int32(rows).int32(rows / 8 + 1).raw(new byte[rows / 8 + 1]);
        }
        bytes.bytes(1);
        for (int i = 0; i < columns; i++) {
            bytes.bytes(1);
            for (int row = 0; row < rows; row++) {
                bytes.int32(row);
            }
        }
        return bytes.done();
    }

    private TabletFormatException refusal(ByteBuffer bytes) {
        return catchThrowableOfType(TabletFormatException.class, () -> codec.decode(bytes));
    }

    private boolean isRefused(ByteBuffer bytes, String of) {
        try {
            codec.decode(bytes).rows().forEach(Tablet.Row::values);
            return false;
        } catch (TabletFormatException e) {
            return true;
        } catch (RuntimeException | Error e) {
            throw new AssertionError("threw something else for " + of, e);
        }
    }
}
