package io.tabletrelay.core.pipe;

/** What a pipe's files are at; has nothing to do with where the pipe stands in its life. */
enum FilesState {
    OPENING,
    OPEN,
    /** They cannot be used, and are tried again later. */
    FAILED,
    /** Closed, since there was nothing to do; the next use opens them. */
    AT_REST
}
