package io.tabletrelay.core.store.log;

/**
 * What a pipe knows of its log before it is opened.
 *
 * <p>Threading: immutable.
 *
 * @param epoch tells this pipe from an earlier one of its name
 * @param salt what only this relay knows of the pipe, see {@link RecordChecksum}
 * @param firstFreeId lowest id that this pipe may give
 * @param atLeastId highest id that anybody was ever shown: appended, delivered or settled; 0: none
 * @param bootChanged the machine was started anew since the id mark was raised, so that the log's tail may be lost
 * @param keptFromId nothing was deleted from this id on; {@link #NOT_KNOWN}: that cannot be said
 */
public record LogOrigin(long epoch, long salt, long firstFreeId, long atLeastId, boolean bootChanged, long keptFromId) {
    public static final long NOT_KNOWN = Long.MAX_VALUE;
}
