package io.tabletrelay.api.tablet;

import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/** What a tablet's column holds, and which Java type stands for it. */
public enum TabletType {
    BOOLEAN(0, Boolean.class),
    INT32(1, Integer.class),
    INT64(2, Long.class),
    FLOAT(3, Float.class),
    DOUBLE(4, Double.class),
    TEXT(5, String.class),
    /** A time in the unit of the tablet's times. */
    TIMESTAMP(8, Long.class),
    /** A date of the years 1000 to 9999. */
    DATE(9, LocalDate.class),
    BLOB(10, byte[].class),
    STRING(11, String.class),
    /** Bytes that refer to an object; readers know it since tsfile 2.2.1. */
    OBJECT(12, byte[].class);

    private final int code;
    private final Class<?> javaType;

    TabletType(int code, Class<?> javaType) {
        this.code = code;
        this.javaType = javaType;
    }

    /** The class of {@link Tablet#value}'s results in such a column. */
    public Class<?> javaType() {
        return javaType;
    }

    int code() {
        return code;
    }

    static @Nullable TabletType ofCode(int code) {
        for (TabletType type : values()) {
            if (type.code == code) {
                return type;
            }
        }
        return null;
    }
}
