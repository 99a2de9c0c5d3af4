package io.tabletrelay.core.delivery;

import java.util.List;

/**
 * Which dead letters are meant: those for which all of this is true.
 *
 * <p>Threading: immutable.
 *
 * @param numbers one of these; empty: any
 * @param reason given up for it; empty: for any
 * @param subscription given up for it; empty: for any
 */
public record LetterSelection(List<Long> numbers, String reason, String subscription) {
    public static final LetterSelection ALL = new LetterSelection(List.of(), "", "");

    public LetterSelection {
        numbers = numbers.stream().distinct().sorted().toList();
    }

    /** What their numbers are apart. */
    boolean matches(DeadLetter letter) {
        return (reason.isEmpty() || reason.equals(letter.reason()))
                && (subscription.isEmpty() || subscription.equals(letter.subscription()));
    }
}
