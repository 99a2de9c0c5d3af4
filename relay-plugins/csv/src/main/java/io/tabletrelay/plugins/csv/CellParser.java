package io.tabletrelay.plugins.csv;

import io.tabletrelay.api.tablet.TabletType;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fields to values. Spaces around anything but text do not count.
 *
 * <p>Threading: immutable.
 */
record CellParser(TimeParser times) {
    private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]+");
    private static final Pattern NUMBER = Pattern.compile("[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?");

    /** Zeros in front mean something in codes, such as postal ones, which numbers would lose. */
    private static final Pattern CODE = Pattern.compile("[+-]?0[0-9].*");

    private static final Pattern DATE = Pattern.compile("[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}");
    private static final long LARGEST_EXACT_INTEGER = 1L << 53;

    /** Returns the value, or null for a field that does not fit the type. */
    @Nullable
    Object parse(TabletType type, String field) {
        try {
            String text = field.strip();
            return switch (type) {
                case BOOLEAN -> bool(text);
                case INT32 -> INTEGER.matcher(text).matches() ? Integer.valueOf(text) : null;
                case INT64 -> INTEGER.matcher(text).matches() ? Long.valueOf(text) : null;
                case FLOAT -> real(text) ? finite(Float.valueOf(text)) : notANumber(text, Float.NaN);
                case DOUBLE -> real(text) ? finite(Double.valueOf(text)) : notANumber(text, Double.NaN);
                case TIMESTAMP -> times.parse(text);
                case DATE -> DATE.matcher(text).matches() ? LocalDate.parse(text) : null;
                case TEXT, STRING -> field;
                case BLOB, OBJECT -> throw new IllegalArgumentException("type cannot be declared: type=" + type);
            };
        } catch (NumberFormatException | DateTimeParseException e) {
            return null;
        }
    }

    /**
     * The type of a column of which these are the fields that are not empty: BOOLEAN or DOUBLE if all agree, else STRING;
     * STRING too for numbers that a DOUBLE would change.
     */
    TabletType infer(Iterable<String> fields) {
        boolean bools = true;
        boolean numbers = true;
        boolean none = true;
        for (String field : fields) {
            String text = field.strip();
            bools = bools && bool(text) != null;
            numbers = numbers && isExactNumber(text);
            none = false;
        }
        if (none) {
            return TabletType.STRING;
        }
        return bools ? TabletType.BOOLEAN : numbers ? TabletType.DOUBLE : TabletType.STRING;
    }

    private boolean isExactNumber(String text) {
        if (parse(TabletType.DOUBLE, text) == null || CODE.matcher(text).matches()) {
            return false;
        }
        return !INTEGER.matcher(text).matches() || Math.abs(Double.parseDouble(text)) <= LARGEST_EXACT_INTEGER;
    }

    private static @Nullable Boolean bool(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true" -> Boolean.TRUE;
            case "false" -> Boolean.FALSE;
            default -> null;
        };
    }

    private static boolean real(String text) {
        return NUMBER.matcher(text).matches();
    }

    private static <T extends Number> @Nullable T finite(T number) {
        return Double.isInfinite(number.doubleValue()) ? null : number;
    }

    private static <T extends Number> @Nullable T notANumber(String text, T value) {
        return text.equalsIgnoreCase("nan") ? value : null;
    }
}
