package io.tabletrelay.api.tablet;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A column of a tablet.
 *
 * <p>Threading: immutable.
 *
 * @param encoding how IoTDB shall encode the column in its files, as IoTDB numbers it
 * @param compressor how IoTDB shall compress the column in its files, as IoTDB numbers it
 * @param category what the column is in IoTDB's table model; FIELD in the tree model
 */
public record TabletColumn(
        String name, TabletType type, byte encoding, byte compressor, Map<String, String> props, Category category) {
    /** What a column is in IoTDB's table model. */
    public enum Category {
        TAG(0),
        FIELD(1),
        ATTRIBUTE(2),
        /** Readers know it since tsfile 2.2.1. */
        TIME(3);

        private final int code;

        Category(int code) {
            this.code = code;
        }

        int code() {
            return code;
        }

        static @Nullable Category ofCode(int code) {
            for (Category category : values()) {
                if (category.code == code) {
                    return category;
                }
            }
            return null;
        }
    }

    private static final byte PLAIN = 0;
    private static final byte UNCOMPRESSED = 0;

    public TabletColumn {
        props = Collections.unmodifiableMap(new LinkedHashMap<>(props));
    }

    /** Returns a measured value's column with the encoding and compressor that every reader accepts. */
    public static TabletColumn field(String name, TabletType type) {
        return new TabletColumn(name, type, PLAIN, UNCOMPRESSED, Map.of(), Category.FIELD);
    }
}
