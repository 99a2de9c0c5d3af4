package io.tabletrelay.core.store.log;

/**
 * The highest id that may be given before the mark is raised again: written ahead, so that no id is given twice even when
 * the log's tail is lost.
 *
 * <p>Threading: all are called by one thread at a time, {@link #raiseTo} and {@link #checkIsOurs} by I/O threads.
 */
public interface IdMark {
    /** For a log that may give an id again once its tail is lost. */
    IdMark NONE = new IdMark() {
        @Override
        public long value() {
            return 0;
        }

        @Override
        public void raiseTo(long id) {}
    };

    /** The mark as it is on disk; 0: no id was ever given. */
    long value();

    /** Throws StoreException if another process may give ids too. */
    default void checkIsOurs() {}

    /** When this returns, the mark and the boot it was raised in are forced to disk. */
    void raiseTo(long id);
}
