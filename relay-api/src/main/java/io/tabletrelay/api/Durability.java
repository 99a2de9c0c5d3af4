package io.tabletrelay.api;

import java.util.Locale;

/** What a confirmed event survives. */
public enum Durability {
    /** Survives the death of the relay's process at any moment: the bytes are the kernel's. */
    PROCESS,
    /** Survives a power cut as well: the bytes were forced to the disk before the confirmation. */
    DISK;

    /** The word used in settings, answers and the banner. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
