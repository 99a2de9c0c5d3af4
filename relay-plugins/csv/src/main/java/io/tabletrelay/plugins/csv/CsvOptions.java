package io.tabletrelay.plugins.csv;

import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.api.tablet.TabletFamily;
import io.tabletrelay.api.tablet.TabletType;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the source said beside the rows.
 *
 * <p>Threading: immutable.
 *
 * @param types the declared columns' types by name
 * @param timeColumn null: the first
 * @param rowsPerTablet most rows in one tablet
 */
record CsvOptions(
        Map<String, TabletType> types,
        @Nullable String timeColumn,
        ZoneId zone,
        String device,
        int rowsPerTablet,
        Target target,
        TabletFamily family) {
    /** What rows become. */
    enum Target {
        TABLET,
        JSON
    }

    private static final int DEFAULT_ROWS = 500;
    private static final int MOST_ROWS = 1_000_000;

    /** A text can say what these are; bytes have no agreed spelling. */
    private static final Set<TabletType> DECLARABLE =
            EnumSet.complementOf(EnumSet.of(TabletType.BLOB, TabletType.OBJECT));

    static CsvOptions of(SourceEvent event) throws BadEventException {
        return new CsvOptions(
                types(event.option("types", "")),
                event.options().get("time"),
                zone(event.option("zone", "UTC")),
                device(event),
                rows(event.option("rows", String.valueOf(DEFAULT_ROWS))),
                target(event.option("to", "tablet")),
                TabletFamily.of(event));
    }

    /** What a text becomes whose type is not declared: one that all readers of the family know. */
    TabletType textType() {
        return family == TabletFamily.V1 ? TabletType.TEXT : TabletType.STRING;
    }

    private static Map<String, TabletType> types(String option) throws BadEventException {
        Map<String, TabletType> types = new LinkedHashMap<>();
        if (option.isBlank()) {
            return types;
        }
        for (String part : option.split(",", -1)) {
            int colon = part.lastIndexOf(':');
            TabletType type = colon < 1 ? null : type(part.substring(colon + 1).strip());
            if (type == null) {
                throw refused("types", part, "column:type with a type of " + DECLARABLE);
            }
            String column = part.substring(0, colon).strip();
            if (types.put(column, type) != null) {
                throw refused("types", part, "each column once");
            }
        }
        return types;
    }

    private static @Nullable TabletType type(String name) {
        return DECLARABLE.stream()
                .filter(type -> type.name().equals(name.toUpperCase(Locale.ROOT)))
                .findFirst()
                .orElse(null);
    }

    private static ZoneId zone(String option) throws BadEventException {
        try {
            return ZoneId.of(option);
        } catch (DateTimeException e) {
            throw refused("zone", option, "a time zone such as UTC, +01:00 or Europe/Berlin");
        }
    }

    private static String device(SourceEvent event) throws BadEventException {
        String device = event.option("device", event.pipe().value());
        if (device.isBlank()) {
            throw refused("device", device, "the device's path or the table's name");
        }
        return device;
    }

    private static int rows(String option) throws BadEventException {
        try {
            int rows = Integer.parseInt(option);
            if (rows >= 1 && rows <= MOST_ROWS) {
                return rows;
            }
        } catch (NumberFormatException e) {
            // refused below like a number out of range
        }
        throw refused("rows", option, "rows per tablet, 1 to " + MOST_ROWS);
    }

    private static Target target(String option) throws BadEventException {
        return switch (option) {
            case "tablet" -> Target.TABLET;
            case "json" -> Target.JSON;
            default -> throw refused("to", option, "tablet or json");
        };
    }

    static BadEventException refused(String name, String value, String expected) {
        return BadEventException.withoutPosition(
                "option not understood: " + name + "=" + value + "; expected " + expected);
    }
}
