package io.tabletrelay.core.protocol;

/** Numbers as lines have them: ASCII digits only, no sign, no spaces. */
final class Digits {
    /** Digits of the largest long. */
    private static final int MOST = 19;

    private Digits() {}

    /** The number that stands there, or -1 if there is none from 0 to the largest long. */
    static long read(String text, int from, int to) {
        if (from >= to || to - from > MOST) {
            return -1;
        }
        long number = 0;
        for (int i = from; i < to; i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            number = number * 10 + digit; // 19 digits can pass the largest long once, and are negative then
        }
        return number < 0 ? -1 : number;
    }

    /** The id that stands there. */
    static long id(String text, int from, int to) throws ProtocolException {
        long id = read(text, from, to);
        if (id < 1) {
            throw new ProtocolException("an id that is not a number from 1 to " + Long.MAX_VALUE);
        }
        return id;
    }
}
