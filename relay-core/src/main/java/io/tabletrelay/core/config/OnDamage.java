package io.tabletrelay.core.config;

import java.util.Locale;

/** What a pipe does when stored events cannot be read. */
public enum OnDamage {
    /** Goes on with the next event that can be read; those lost become dead letters without payload. */
    SKIP,
    /** Stops with an error that names them, until an operator decides. */
    STOP;

    /** The word used in settings. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
