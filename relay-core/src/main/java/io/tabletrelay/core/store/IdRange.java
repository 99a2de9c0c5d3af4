package io.tabletrelay.core.store;

/**
 * The ids from first to last, both included.
 *
 * <p>Threading: immutable.
 */
public record IdRange(long first, long last) {
    public long size() {
        return last - first + 1;
    }
}
