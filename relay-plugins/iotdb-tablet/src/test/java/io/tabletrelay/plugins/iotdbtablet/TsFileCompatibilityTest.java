package io.tabletrelay.plugins.iotdbtablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.tablet.Tablet;
import io.tabletrelay.api.tablet.TabletCodec;
import io.tabletrelay.api.tablet.TabletFamily;
import io.tabletrelay.api.tablet.TabletType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Our codec against the libraries that wrote and will read the bytes elsewhere. */
class TsFileCompatibilityTest {
    /** Without OBJECT, which the older library does not know. */
    private static final List<TabletType> TYPES = List.of(
            TabletType.BOOLEAN,
            TabletType.INT32,
            TabletType.INT64,
            TabletType.FLOAT,
            TabletType.DOUBLE,
            TabletType.TEXT,
            TabletType.TIMESTAMP,
            TabletType.DATE,
            TabletType.BLOB,
            TabletType.STRING);

    private static final Map<String, TsFileLibrary> LIBRARIES = new HashMap<>();

    private final TabletCodec codec = new TabletCodec(TabletFamily.V2);

    /** Which cells are null. */
    private enum Nulls {
        NONE,
        DIAGONAL,
        FIRST_ROW,
        LAST_COLUMN,
        ALL;

        boolean at(int row, int column) {
            return switch (this) {
                case NONE -> false;
                case DIAGONAL -> row % TYPES.size() == column;
                case FIRST_ROW -> row == 0;
                case LAST_COLUMN -> column == TYPES.size() - 1;
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

    @ParameterizedTest
    @CsvSource({
        "2.0.3, 0, NONE", "2.0.3, 1, NONE", "2.0.3, 1, ALL", "2.0.3, 8, FIRST_ROW", "2.0.3, 19, LAST_COLUMN",
        "2.0.3, 1000, DIAGONAL", "2.4.0, 0, NONE", "2.4.0, 1, NONE", "2.4.0, 1, ALL", "2.4.0, 8, FIRST_ROW",
        "2.4.0, 19, LAST_COLUMN", "2.4.0, 1000, DIAGONAL"
    })
    void theLibraryReadsWhatWeWrite(String version, int rowCount, Nulls nulls) throws Exception {
        List<List<@Nullable Object>> rows = rows(rowCount, nulls);
        Tablet.Builder builder = Tablet.builder("root.sg.wärme");
        TYPES.forEach(type -> builder.column("s_" + type + "_温度", type));
        rows.forEach(row -> builder.row((Long) row.get(0), ours(row)));
        ByteBuffer bytes = codec.encode(builder.build());

        List<List<@Nullable Object>> read = library(version).read(copy(bytes));

        assertThat(read).usingRecursiveComparison().isEqualTo(rows);
    }

    @ParameterizedTest
    @CsvSource({
        "2.0.3, 0, NONE", "2.0.3, 1, NONE", "2.0.3, 1, ALL", "2.0.3, 8, FIRST_ROW", "2.0.3, 19, LAST_COLUMN",
        "2.0.3, 1000, DIAGONAL", "2.4.0, 0, NONE", "2.4.0, 1, NONE", "2.4.0, 1, ALL", "2.4.0, 8, FIRST_ROW",
        "2.4.0, 19, LAST_COLUMN", "2.4.0, 1000, DIAGONAL"
    })
    void weReadWhatTheLibraryWrites(String version, int rowCount, Nulls nulls) throws Exception {
        List<List<@Nullable Object>> rows = rows(rowCount, nulls);
        byte[] bytes =
                library(version).write(TYPES.stream().map(TabletType::name).toList(), rows);

        Tablet tablet = codec.decode(ByteBuffer.wrap(bytes));

        assertThat(tablet.target()).isEqualTo("root.sg.d1");
        assertThat(tablet.columns()).hasSize(TYPES.size()).extracting("type").isEqualTo(TYPES);
        assertThat(theirs(tablet)).usingRecursiveComparison().isEqualTo(rows);
    }

    private static TsFileLibrary library(String version) throws IOException {
        TsFileLibrary library = LIBRARIES.get(version);
        if (library == null) {
            library = new TsFileLibrary(version);
            LIBRARIES.put(version, library);
        }
        return library;
    }

    /** In the libraries' terms: text as bytes. */
    private static List<List<@Nullable Object>> rows(int count, Nulls nulls) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (int row = 0; row < count; row++) {
            @Nullable
            Object[] cells = {
                1_700_000_000_000L + row * 1000L,
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
            for (int column = 0; column < TYPES.size(); column++) {
                cells[column + 1] = nulls.at(row, column) ? null : cells[column + 1];
            }
            rows.add(Arrays.asList(cells));
        }
        return rows;
    }

    private static @Nullable Object[] ours(List<@Nullable Object> row) {
        @Nullable Object[] cells = row.subList(1, row.size()).toArray();
        for (int column = 0; column < cells.length; column++) {
            if (cells[column] instanceof byte[] bytes && TYPES.get(column).javaType() == String.class) {
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
