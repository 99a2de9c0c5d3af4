package io.tabletrelay.api.client;

import java.util.Set;

/** What a close code means for one who could connect again. */
final class CloseCode {
    static final int NORMAL = 1000;
    static final int PROTOCOL_ERROR = 1002;
    static final int ABNORMAL = 1006;
    static final int PIPE_OVER = 4410;

    private static final Set<Integer> FOR_GOOD = Set.of(1007, 1009, 4001, 4003, 4004, 4409, PIPE_OVER);
    private static final Set<Integer> LATER = Set.of(4000, 4429, 4500);

    private CloseCode() {}

    /** Connecting again would end the same way. */
    static boolean endsForGood(int code) {
        return FOR_GOOD.contains(code);
    }

    /** Connecting again at once would end the same way. */
    static boolean asksForPatience(int code) {
        return LATER.contains(code);
    }
}
