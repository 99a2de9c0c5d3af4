package io.tabletrelay.core.config;

import java.util.Locale;

/** What a pipe does with a publish when its limit, or the disk, leaves no room for it. */
public enum WhenFull {
    /** The publish is refused at once. */
    REJECT,
    /** It waits for room, and is refused when there was none in time. */
    BLOCK,
    /** The oldest events go, whether they are settled or not, and are counted; on a full disk, where that frees nothing, it is refused. */
    DROP_OLDEST;

    /** The word used in settings. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
