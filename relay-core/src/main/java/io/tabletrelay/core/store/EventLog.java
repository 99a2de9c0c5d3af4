package io.tabletrelay.core.store;

import io.tabletrelay.api.ProducerSequence;
import org.jspecify.annotations.Nullable;

/**
 * A pipe's events in the order of their ids: 1, 2, 3 …, for ever.
 *
 * <p>An id is <em>void</em> when no event will ever have it (a group cut short by a crash, a tail lost to a power cut).
 *
 * <p>Threading: confined to the pipe's transfer thread, but for the methods that say I/O thread: those may block on the
 * disk and run one at a time. A log of dead letters is used by I/O threads alone.
 */
public interface EventLog extends AutoCloseable {
    /** The lowest id that is still kept, or {@code lastId() + 1} when there is none. */
    long firstId();

    /** The highest id ever given, void ones included; 0: none yet. */
    long lastId();

    /**
     * The highest id that is durable at the pipe's level: {@link #lastId} at process, what a force has covered at disk.
     * Confirmations and deliveries wait for it.
     */
    long durableId();

    /** Returns the first id from {@code id} on that is not void; up to {@code lastId() + 1}. */
    long skipVoid(long id);

    /** How many ids up to {@link #lastId} are void. */
    long voidIds();

    /** How many ids above {@code id} and up to {@link #lastId} are void. */
    long voidIdsAbove(long id);

    /** Bytes that the log's files take on disk. */
    long diskBytes();

    /** False: appending this group would have to wait for the disk; call {@link #makeRoomFor} first. */
    boolean hasRoomFor(EventGroup group);

    /** True: little room is left, and {@link #allocateAhead} should run before it is used up. */
    boolean lowOnRoom();

    /** Allocates room ahead of the writer; appends may go on meanwhile. I/O thread. */
    void allocateAhead();

    /**
     * Makes room for the group: starts a segment, allocates space, raises the id mark. The transfer thread must not append
     * meanwhile. I/O thread.
     *
     * @throws StoreException with STORAGE_FULL, PIPE_FULL, TOO_LARGE or, for want of memory, BUSY when there cannot be room;
     *     nothing has changed then
     */
    void makeRoomFor(EventGroup group);

    /**
     * Appends the group and returns its first id; the others follow it. Needs room, see {@link #hasRoomFor}.
     *
     * @throws StoreException with BUSY if there is no memory for a buffer, and nothing has changed then; otherwise the log takes
     *     no further appends
     */
    long append(EventGroup group);

    /**
     * Forces to disk, at durability disk, what was appended before the call and what was found at the open; appends may go on
     * meanwhile. When this returns {@link #durableId} says so. I/O thread.
     *
     * @throws io.tabletrelay.core.store.ForceFailedException if the disk refuses; {@link #voidUncovered} is to be called then.
     *     {@link #makeRoomFor} may throw it as well, since an older segment is forced before the next one is born
     */
    void force();

    /**
     * To be called when a force has failed: no id of an event that it should have covered counts any more, nor do the publishes
     * that had them; the next append starts a new segment. What was found at the open stays, and is forced again later. Returns
     * the ids that are void now; null: none.
     */
    @Nullable
    IdRange voidUncovered();

    /** The highest sequence stored for that producer; 0: none. */
    long lastSequence(String producer);

    /** Ids that this publish was given when it was stored, or null when it is not one of its producer's latest. */
    @Nullable
    IdRange idsOf(ProducerSequence sequence);

    /** The same for any durable publish whose events are still kept; forces what is not, reads one segment at most. I/O thread. */
    @Nullable
    IdRange findIdsOf(ProducerSequence sequence);

    /** A reader of its own, standing before the first event. */
    EventTailer openTailer();

    /** Closes the files. I/O thread; nothing else may be called afterwards. */
    @Override
    void close();
}
