package io.tabletrelay.harness;

/**
 * Makes events of all sizes: most are small, some are larger than the buffers that each log has for itself, few are much larger.
 *
 * <p>Threading: immutable.
 */
public final class Padding {
    private static final int LARGE_EACH = 64;
    private static final int HUGE_EACH = 2048;
    private static final String LARGE = "x".repeat(20_000);
    private static final String HUGE = "x".repeat(1_000_000);

    private Padding() {}

    /** What the n-th event carries besides its name. */
    public static String of(long n) {
        return n % HUGE_EACH == 0 ? HUGE : n % LARGE_EACH == 0 ? LARGE : "";
    }
}
