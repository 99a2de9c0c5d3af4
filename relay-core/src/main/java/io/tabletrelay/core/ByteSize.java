package io.tabletrelay.core;

import io.tabletrelay.core.config.SettingText;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code 4096}, {@code 64KiB}, {@code 512MiB}, {@code 8GiB} as a number of bytes. */
final class ByteSize implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
        try {
            return SettingText.bytes(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(String.valueOf(e.getMessage()));
        }
    }
}
