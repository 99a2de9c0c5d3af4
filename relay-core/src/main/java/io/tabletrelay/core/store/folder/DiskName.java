package io.tabletrelay.core.store.folder;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How a pipe's or subscription's name is spelled as a file name: percent-encoded, so that no name can leave its folder or
 * meet another one, not even on a file system that ignores case; a long one is cut and ends in {@code ~} and a hash.
 */
final class DiskName {
    static final int MAX_CHARS = 200;
    private static final int KEPT_CHARS = 150;
    private static final int HASH_CHARS = 32;
    private static final char CUT = '~';
    private static final HexFormat HEX = HexFormat.of().withUpperCase();
    /** Device names of Windows, with any extension. */
    private static final Pattern DEVICE = Pattern.compile("(con|prn|aux|nul|com[0-9]|lpt[0-9])(\\..*)?");

    private DiskName() {}

    static String of(String name) {
        byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
        boolean device = DEVICE.matcher(name).matches();
        StringBuilder encoded = new StringBuilder(utf8.length + 16);
        for (int i = 0; i < utf8.length; i++) {
            boolean atEdge = i == 0 || i == utf8.length - 1;
            if (isPlain(utf8[i], atEdge) && !(device && i == 0)) {
                encoded.append((char) utf8[i]);
            } else {
                encoded.append('%').append(HEX.toHexDigits(utf8[i]));
            }
        }
        return encoded.length() <= MAX_CHARS ? encoded.toString() : encoded.substring(0, KEPT_CHARS) + CUT + hash(utf8);
    }

    /** Returns the name that is spelled like that, or null when it was cut or nobody's name is spelled like that. */
    static @Nullable String decode(String encoded) {
        byte[] utf8 = new byte[encoded.length()];
        int length = 0;
        for (int i = 0; i < encoded.length(); i++) {
            char c = encoded.charAt(i);
            if (c == '%' && i + 2 < encoded.length() && isHex(encoded, i + 1) && isHex(encoded, i + 2)) {
                utf8[length++] = (byte) HexFormat.fromHexDigits(encoded, i + 1, i + 3);
                i += 2;
            } else {
                utf8[length++] = (byte) c;
            }
        }
        String name = new String(utf8, 0, length, StandardCharsets.UTF_8);
        return of(name).equals(encoded) ? name : null;
    }

    private static boolean isHex(String text, int index) {
        return HexFormat.isHexDigit(text.charAt(index));
    }

    private static boolean isPlain(byte b, boolean atEdge) {
        return (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '_' || b == '-' || (b == '.' && !atEdge);
    }

    private static String hash(byte[] utf8) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(utf8);
            return HexFormat.of().formatHex(digest).substring(0, HASH_CHARS);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
