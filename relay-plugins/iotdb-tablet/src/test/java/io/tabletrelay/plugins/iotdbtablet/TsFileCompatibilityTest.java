package io.tabletrelay.plugins.iotdbtablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.tablet.Tablet;
import io.tabletrelay.api.tablet.TabletCodec;
import io.tabletrelay.api.tablet.TabletFamily;
import io.tabletrelay.api.tablet.TabletFormatException;
import io.tabletrelay.api.tablet.TabletType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Our codec against the libraries that wrote and will read the bytes elsewhere. */
class TsFileCompatibilityTest {
    /** Those that the oldest library knows. */
    private static final List<TabletType> FIRST_TYPES = List.of(
            TabletType.BOOLEAN,
            TabletType.INT32,
            TabletType.INT64,
            TabletType.FLOAT,
            TabletType.DOUBLE,
            TabletType.TEXT);

    /** Without OBJECT, which only the newest library knows. */
    private static final List<TabletType> TYPES = Stream.concat(
                    FIRST_TYPES.stream(),
                    Stream.of(TabletType.TIMESTAMP, TabletType.DATE, TabletType.BLOB, TabletType.STRING))
            .toList();

    private static final Map<Version, TsFileLibrary> LIBRARIES = new EnumMap<>(Version.class);

    private enum Version {
        IOTDB_1_3_2(TabletFamily.V1),
        TSFILE_1_1_3(TabletFamily.V1),
        TSFILE_2_0_3(TabletFamily.V2),
        TSFILE_2_4_0(TabletFamily.V2);

        private final TabletFamily family;

        Version(TabletFamily family) {
            this.family = family;
        }

        List<TabletType> types() {
            return this == IOTDB_1_3_2 ? FIRST_TYPES : TYPES;
        }

        TsFileLibrary library() throws Exception {
            TsFileLibrary library = LIBRARIES.get(this);
            if (library == null) {
                library = switch (this) {
                    case IOTDB_1_3_2 ->
                        new FormerTsFileLibrary("1.3.2", "org.apache.iotdb.tsfile", ".file.metadata.enums");
                    case TSFILE_1_1_3 -> new FormerTsFileLibrary("1.1.3", "org.apache.tsfile", ".enums");
                    case TSFILE_2_0_3 -> new CurrentTsFileLibrary("2.0.3");
                    case TSFILE_2_4_0 -> new CurrentTsFileLibrary("2.4.0");
                };
                LIBRARIES.put(this, library);
            }
            return library;
        }

        TabletCodec codec() {
            return new TabletCodec(family);
        }

        TabletCodec otherCodec() {
            return new TabletCodec(family == TabletFamily.V1 ? TabletFamily.V2 : TabletFamily.V1);
        }
    }

    /** Which cells are null. */
    private enum Nulls {
        NONE,
        DIAGONAL,
        FIRST_ROW,
        LAST_COLUMN,
        ALL;

        boolean at(int row, int column, int columns) {
            return switch (this) {
                case NONE -> false;
                case DIAGONAL -> row % columns == column;
                case FIRST_ROW -> row == 0;
                case LAST_COLUMN -> column == columns - 1;
                case ALL -> true;
            };
        }
    }

    @AfterAll
    static void close() throws IOException {
        for (TsFileLibrary library : LIBRARIES.values()) {
            library.close();
        }
        LIBRARIES.clear();
    }

    static Stream<Arguments> tablets() {
        return Stream.of(Version.values())
                .flatMap(version -> Stream.of(
                        Arguments.of(version, 0, Nulls.NONE),
                        Arguments.of(version, 1, Nulls.NONE),
                        Arguments.of(version, 1, Nulls.ALL),
                        Arguments.of(version, 8, Nulls.FIRST_ROW),
                        Arguments.of(version, 16, Nulls.LAST_COLUMN),
                        Arguments.of(version, 19, Nulls.LAST_COLUMN),
                        Arguments.of(version, 1000, Nulls.DIAGONAL)));
    }

    @ParameterizedTest
    @MethodSource("tablets")
    void theLibraryReadsWhatWeWrite(Version version, int rowCount, Nulls nulls) throws Exception {
        List<List<@Nullable Object>> rows = rows(version.types(), rowCount, nulls);

        List<List<@Nullable Object>> read =
                version.library().read(copy(version.codec().encode(tablet(version.types(), rows))));

        assertThat(read).usingRecursiveComparison().isEqualTo(rows);
    }

    @ParameterizedTest
    @MethodSource("tablets")
    void weReadWhatTheLibraryWrites(Version version, int rowCount, Nulls nulls) throws Exception {
        List<List<@Nullable Object>> rows = rows(version.types(), rowCount, nulls);
        byte[] bytes = written(version, version.types(), rows);

        Tablet tablet = version.codec().decode(ByteBuffer.wrap(bytes));

        assertThat(tablet.target()).isEqualTo("root.sg.d1");
        assertThat(tablet.columns())
                .hasSize(version.types().size())
                .extracting("type")
                .isEqualTo(version.types());
        assertThat(theirs(tablet)).usingRecursiveComparison().isEqualTo(rows);
    }

    @ParameterizedTest
    @EnumSource
    void everyTruncationOfWhatTheLibraryWritesIsRefused(Version version) throws Exception {
        byte[] bytes = written(version, version.types(), rows(version.types(), 9, Nulls.DIAGONAL));

        for (int length = 0; length < bytes.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(bytes, 0, length);
            assertThatThrownBy(() -> version.codec().decode(cut))
                    .as("of length %d", length)
                    .isInstanceOf(TabletFormatException.class);
        }
    }

    /** Each type alone too: with one column fewer bytes tell the families apart. */
    @ParameterizedTest
    @EnumSource
    void whatTheLibraryWritesIsNoTabletOfTheOtherFamily(Version version) throws Exception {
        List<List<TabletType>> columns = new ArrayList<>(List.of(version.types()));
        version.types().forEach(type -> columns.add(List.of(type)));
        for (List<TabletType> types : columns) {
            for (Nulls nulls : Nulls.values()) {
                for (int rowCount : new int[] {1, 2, 8, 19}) {
                    ByteBuffer bytes = ByteBuffer.wrap(written(version, types, rows(types, rowCount, nulls)));
                    assertThatThrownBy(() -> version.otherCodec().decode(bytes))
                            .as("%s, %d rows, nulls %s", types, rowCount, nulls)
                            .hasMessageContaining("this is a whole one of family " + version.family.word());
                }
            }
        }
    }

    private static byte[] written(Version version, List<TabletType> types, List<List<@Nullable Object>> rows)
            throws Exception {
        return version.library().write(types.stream().map(TabletType::name).toList(), rows);
    }

    private static Tablet tablet(List<TabletType> types, List<List<@Nullable Object>> rows) {
        Tablet.Builder builder = Tablet.builder("root.sg.wärme");
        types.forEach(type -> builder.column("s_" + type + "_温度", type));
        rows.forEach(row -> builder.row((Long) row.get(0), ours(types, row)));
        return builder.build();
    }

    /** In the libraries' terms: text as bytes. */
    private static List<List<@Nullable Object>> rows(List<TabletType> types, int count, Nulls nulls) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (int row = 0; row < count; row++) {
            @Nullable
            Object[] cells = {
                row % 2 == 0,
                row - 5,
                (long) row << 40,
                row / 4f,
                row / 3d,
                ("text " + row + " 😀").getBytes(StandardCharsets.UTF_8),
                1_600_000_000_000L + row,
                LocalDate.of(2024, 2, 27).plusDays(row),
                new byte[] {(byte) row, 0, -1},
                (row % 3 == 0 ? "" : "string é " + row).getBytes(StandardCharsets.UTF_8)
            };
            List<@Nullable Object> chosen = new ArrayList<>();
            chosen.add(1_700_000_000_000L + row * 1000L);
            for (int column = 0; column < types.size(); column++) {
                boolean isNull = nulls.at(row, column, types.size());
                chosen.add(isNull ? null : cells[TYPES.indexOf(types.get(column))]);
            }
            rows.add(chosen);
        }
        return rows;
    }

    private static @Nullable Object[] ours(List<TabletType> types, List<@Nullable Object> row) {
        @Nullable Object[] cells = row.subList(1, row.size()).toArray();
        for (int column = 0; column < cells.length; column++) {
            if (cells[column] instanceof byte[] bytes && types.get(column).javaType() == String.class) {
                cells[column] = new String(bytes, StandardCharsets.UTF_8);
            }
        }
        return cells;
    }

    private static List<List<@Nullable Object>> theirs(Tablet tablet) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (Tablet.Row row : tablet.rows()) {
            List<@Nullable Object> cells = new ArrayList<>();
            cells.add(row.time());
            for (Object value : row.values()) {
                cells.add(value instanceof String text ? text.getBytes(StandardCharsets.UTF_8) : value);
            }
            rows.add(cells);
        }
        return rows;
    }

    private static byte[] copy(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return copy;
    }
}
