package io.tabletrelay.core;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code 4096}, {@code 64KiB}, {@code 512MiB}, {@code 8GiB} as a number of bytes. */
final class ByteSize implements ITypeConverter<Long> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,12}) ?(|b|kib|mib|gib|tib)");

    @Override
    public Long convert(String text) {
        Matcher form = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!form.matches()) {
            throw new TypeConversionException("not a size: '" + text + "'; write it like 4096, 512MiB or 8GiB");
        }
        int power = switch (form.group(2)) {
            case "kib" -> 10;
            case "mib" -> 20;
            case "gib" -> 30;
            case "tib" -> 40;
            default -> 0;
        };
        long bytes = Long.parseLong(form.group(1));
        if (bytes > Long.MAX_VALUE >> power) {
            throw new TypeConversionException("size is too large: '" + text + "'");
        }
        return bytes << power;
    }
}
