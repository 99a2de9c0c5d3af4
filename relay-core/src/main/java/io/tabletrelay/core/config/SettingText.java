package io.tabletrelay.core.config;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes and times as people write them in settings and options. */
public final class SettingText {
    private static final Pattern SIZE = Pattern.compile("(\\d{1,12}) ?(|b|kib|mib|gib|tib)");
    private static final Pattern TIME = Pattern.compile("0*(\\d+) ?(ms|s|m|h|d)");
    private static final int MOST_TIME_DIGITS = 9;

    private SettingText() {}

    /**
     * Reads {@code 4096}, {@code 64KiB}, {@code 512MiB}, {@code 8GiB} as a number of bytes.
     *
     * @throws IllegalArgumentException with a message for the user
     */
    public static long bytes(String text) {
        Matcher form = SIZE.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!form.matches()) {
            throw new IllegalArgumentException("not a size: '" + text + "'; write it like 4096, 512MiB or 8GiB");
        }
        int power = switch (form.group(2)) {
            case "kib" -> 10;
            case "mib" -> 20;
            case "gib" -> 30;
            case "tib" -> 40;
            default -> 0;
        };
        long number = Long.parseLong(form.group(1));
        if (number > Long.MAX_VALUE >> power) {
            throw new IllegalArgumentException("size is too large: '" + text + "'");
        }
        return number << power;
    }

    /** True if the text says a time, as far as one can see by its unit. */
    static boolean isTime(String text) {
        return TIME.matcher(text.strip().toLowerCase(Locale.ROOT)).matches();
    }

    /**
     * Reads {@code 2ms}, {@code 30s}, {@code 10m}, {@code 12h}, {@code 7d}.
     *
     * @throws IllegalArgumentException with a message for the user
     */
    public static Duration time(String text) {
        Matcher form = TIME.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!form.matches()) {
            throw new IllegalArgumentException("not a time: '" + text + "'; write it like 2ms, 30s, 10m, 12h or 7d");
        }
        if (form.group(1).length() > MOST_TIME_DIGITS) {
            throw new IllegalArgumentException(
                    "time is too long: '" + text + "'; write at most " + "9".repeat(MOST_TIME_DIGITS) + form.group(2));
        }
        long number = Long.parseLong(form.group(1));
        return switch (form.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
    }
}
