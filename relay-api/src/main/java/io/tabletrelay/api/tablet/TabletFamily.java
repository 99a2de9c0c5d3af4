package io.tabletrelay.api.tablet;

import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.SourceEvent;
import org.jspecify.annotations.Nullable;

/**
 * Which libraries a tablet's bytes are for. A library of one family reads bytes of the other as garbage, or breaks on
 * them.
 */
public enum TabletFamily {
    /**
     * Of org.apache.iotdb:tsfile 1.2 and 1.3 and org.apache.tsfile:tsfile 1.x, the libraries of IoTDB 1.x.
     *
     * <p>It has no {@link TabletColumn.Category} and no {@link TabletType#OBJECT}. All its readers know BOOLEAN, INT32,
     * INT64, FLOAT, DOUBLE and TEXT; TIMESTAMP, DATE, BLOB and STRING only those since org.apache.tsfile:tsfile 1.1.0
     * (IoTDB 1.3.3).
     */
    V1("v1", "IoTDB 1.x", "application/vnd.apache.iotdb.tablet.v1"),
    /** Of org.apache.tsfile:tsfile 2.x, the libraries of IoTDB 2.x. */
    V2("v2", "IoTDB 2.x", "application/vnd.apache.iotdb.tablet");

    /** The option of a source event, and the setting of a pipe, that names the family. */
    public static final String OPTION = "tablet-format";

    private final String word;
    private final String readers;
    private final String contentType;

    TabletFamily(String word, String readers, String contentType) {
        this.word = word;
        this.readers = readers;
        this.contentType = contentType;
    }

    /** The family that the event's {@link #OPTION} names, by default V2. */
    public static TabletFamily of(SourceEvent event) throws BadEventException {
        String option = event.option(OPTION, V2.word);
        TabletFamily family = ofWord(option);
        if (family == null) {
            throw BadEventException.withoutPosition(
                    "option not understood: " + OPTION + "=" + option + "; expected v1 or v2");
        }
        return family;
    }

    private static @Nullable TabletFamily ofWord(String word) {
        for (TabletFamily family : values()) {
            if (family.word.equals(word)) {
                return family;
            }
        }
        return null;
    }

    /** The name in options and settings: v1 or v2. */
    public String word() {
        return word;
    }

    /** The content type of such a tablet's bytes. */
    public String contentType() {
        return contentType;
    }

    TabletFamily other() {
        return this == V1 ? V2 : V1;
    }

    boolean hasCategories() {
        return this == V2;
    }

    boolean knows(TabletType type) {
        return this == V2 || type != TabletType.OBJECT;
    }

    /** Writers of V1 give each null map a bit more than it needs, and its readers may count on that. */
    int nullMapBytes(int rows) {
        return this == V1 ? rows / Byte.SIZE + 1 : (rows + Byte.SIZE - 1) / Byte.SIZE;
    }

    /** Throws IllegalArgumentException for what the family's bytes cannot say. */
    void check(TabletColumn column) {
        if (!knows(column.type())) {
            throw new IllegalArgumentException("column cannot be written: column=" + column.name() + ", type="
                    + column.type() + ", " + OPTION + "=" + word + "; its readers do not know that type");
        }
        if (!hasCategories() && column.category() != TabletColumn.Category.FIELD) {
            throw new IllegalArgumentException("column cannot be written: column=" + column.name() + ", category="
                    + column.category() + ", " + OPTION + "=" + word
                    + "; it has fields only, its readers would take tags for measured values");
        }
    }

    /** For messages: the name, and what reads such tablets. */
    String described() {
        return word + " (" + readers + ")";
    }
}
