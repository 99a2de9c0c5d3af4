package io.tabletrelay.plugins.csv;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalQueries;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Times as epoch milliseconds, as ISO 8601 ({@code 2024-02-29T13:05:00.250+01:00}), with a space for the T, without
 * seconds, or as a date alone. Without an offset they are of the zone; what is finer than a millisecond is cut off.
 *
 * <p>Threading: immutable.
 */
record TimeParser(ZoneId zone) {
    private static final Pattern EPOCH_MILLIS = Pattern.compile("[+-]?[0-9]{1,19}");

    private static final DateTimeFormatter ISO = new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .optionalStart()
            .appendPattern("['T'][ ]")
            .append(DateTimeFormatter.ISO_LOCAL_TIME)
            .optionalStart()
            .parseLenient() // minutes and the colon may be left out
            .appendOffset("+HH", "Z")
            .toFormatter(Locale.ROOT)
            .withResolverStyle(ResolverStyle.STRICT);

    /** Returns milliseconds since the epoch, or null for a text that is no time in the zone. */
    @Nullable
    Long parse(String text) {
        try {
            if (EPOCH_MILLIS.matcher(text).matches()) {
                return Long.valueOf(text);
            }
            TemporalAccessor parsed = ISO.parse(text);
            LocalTime time = parsed.query(TemporalQueries.localTime());
            LocalDateTime local = LocalDate.from(parsed).atTime(time == null ? LocalTime.MIDNIGHT : time);
            ZoneOffset offset = offset(parsed, local);
            return offset == null ? null : local.toInstant(offset).toEpochMilli();
        } catch (DateTimeException | ArithmeticException | NumberFormatException e) {
            return null;
        }
    }

    /** The earlier of two offsets where clocks are put back; null where they are put forward over the time. */
    private @Nullable ZoneOffset offset(TemporalAccessor parsed, LocalDateTime local) {
        if (parsed.isSupported(ChronoField.OFFSET_SECONDS)) {
            return ZoneOffset.ofTotalSeconds(parsed.get(ChronoField.OFFSET_SECONDS));
        }
        List<ZoneOffset> offsets = zone.getRules().getValidOffsets(local);
        return offsets.isEmpty() ? null : offsets.get(0);
    }
}
