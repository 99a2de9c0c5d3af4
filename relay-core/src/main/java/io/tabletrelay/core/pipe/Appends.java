package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.IdRange;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes on their way into an open log: waiting for room, appended, confirmed.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class Appends {
    private static final long BYTES_A_TURN = 1 << 20;
    private static final long CHECK_NANOS = 1_000_000_000L;
    private static final long MOST_DROPPED_AHEAD = 10_000;
    /** What a publish costs besides its payloads, so that many tiny ones make up a turn as well. */
    private static final int BYTES_PER_GROUP = 128;

    /** @param passedBefore for a publish without events: what its producer had passed before it; otherwise null */
    private record Confirming(
            long lastId,
            Appended answer,
            WaitingAppend publish,
            @Nullable Long passedBefore) {}

    private final PipeName pipe;
    private final EventLog log;
    private final DiskTasks diskTasks;
    private final FullPipe full;
    private final LongSupplier nanoTime;
    private final long maxEvents;
    private final LongSupplier backlogEvents;
    private final Durability durability;
    private final GroupCommit commit;
    private final PassedSequences passed;
    /** Is told how far the log goes before anybody else is. */
    private final LongConsumer appendedUpTo;

    private final PipeMetrics metrics;
    private final ArrayDeque<WaitingAppend> waiting = new ArrayDeque<>();
    private final ArrayDeque<Confirming> confirming = new ArrayDeque<>();
    private long turnBytes;
    /** In this turn. */
    private int appendedEvents;

    private long appendedBytes;
    private boolean makingRoom;
    /** The first publish waits for room, and all behind it. */
    private boolean held;

    /** Why nothing new is appended any more; null: it is. */
    private @Nullable RelayException refusesAll;
    /** Of the publish that is none: behind it nothing is appended until it is known whether the pipe is finished. */
    private @Nullable AppendListener end;

    private boolean ending;

    private boolean allocating;
    private long triedAllocatingAtId = -1;
    private boolean checking;
    private long checkedAtId = -1;
    private long checkedAtNanos;

    Appends(
            PipeName pipe,
            EventLog log,
            DiskTasks diskTasks,
            FullPipe full,
            StoreConfig config,
            LongSupplier backlogEvents,
            LongSupplier nanoTime,
            PassedSequences passed,
            LongConsumer appendedUpTo,
            PipeMetrics metrics) {
        this.pipe = pipe;
        this.log = log;
        this.diskTasks = diskTasks;
        this.full = full;
        this.nanoTime = nanoTime;
        this.maxEvents = config.maxEvents();
        this.backlogEvents = backlogEvents;
        this.durability = config.durability();
        this.commit = new GroupCommit(pipe, log, diskTasks, config, nanoTime, this::forceFailed);
        this.passed = passed;
        this.appendedUpTo = appendedUpTo;
        this.metrics = metrics;
    }

    GroupCommit commit() {
        return commit;
    }

    /** True: a publish waits to be durable. */
    boolean confirming() {
        return !confirming.isEmpty();
    }

    void add(WaitingAppend publish) {
        waiting.add(publish);
    }

    /** From now on nothing new is appended, for this reason; null: it is again. Repeats are answered as ever. */
    void refuseAll(@Nullable RelayException why) {
        refusesAll = why;
        full.roomIsThere(); // who waits for it is refused, or looks again
    }

    /** The listener is told, without ids, when all that came before is durable; what comes after waits for {@link #goOn}. */
    void finish(AppendListener listener) {
        end = listener;
        waiting.add(new WaitingAppend(null, null, PipeSettings.NONE, nanoTime.getAsLong(), listener));
    }

    /** What came after the end is appended, or refused, now. */
    void goOn() {
        end = null;
        ending = false;
    }

    /** Appends what there is room for, up to a turn's share, and confirms what is durable. Returns how much was done. */
    int turn() {
        turnBytes = 0;
        int answered = refuseOverdue();
        held = refusesAll == null && full.holdsBack();
        while (!waiting.isEmpty() && !makingRoom && !held && !ending && turnBytes < BYTES_A_TURN) {
            WaitingAppend next = waiting.remove(); // before it is answered
            EventGroup group = next.group();
            if (refuseOrRepeat(next) || group == null) {
                answered++;
            } else if (tooMany(group) > 0) {
                waiting.addFirst(next);
                tooManyEvents(group);
            } else if (log.hasRoomFor(group)) {
                append(next, group);
            } else if (commit.refusal() != null) {
                refuse(next, commit.refusal());
                answered++;
            } else {
                waiting.addFirst(next);
                makingRoom = true;
                diskTasks.submit(() -> log.makeRoomFor(group), failure -> madeRoom(group, failure));
            }
        }
        if (!allocating && !makingRoom && triedAllocatingAtId != log.lastId() && log.lowOnRoom()) {
            allocating = true;
            triedAllocatingAtId = log.lastId(); // at most once for each append: a full disk must not make us spin
            // a failure shows again, and is answered, when an append needs the room
            diskTasks.submit(log::allocateAhead, failure -> allocating = false);
        }
        if (appendedEvents > 0) {
            metrics.appended(appendedEvents, appendedBytes);
            appendedEvents = 0;
            appendedBytes = 0;
        }
        boolean goesOn = !waiting.isEmpty() && !makingRoom && !held && !ending;
        return answered + confirm() + (goesOn ? 1 : 0);
    }

    /** When a publish that waits for room is looked at again though nothing happens, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise) {
        WaitingAppend first = waiting.peek();
        return first == null || makingRoom || ending ? otherwise : full.nextDeadlineNanos(first, otherwise);
    }

    /** True: nobody waits for an answer, and the disk has not refused anything just now. */
    boolean isIdle() {
        return waiting.isEmpty() && confirming.isEmpty() && commit.refusal() == null;
    }

    /** Answers everything that is not appended yet with this failure. */
    void failWaiting(RelayException failure) {
        for (WaitingAppend publish = waiting.poll(); publish != null; publish = waiting.poll()) {
            refuse(publish, failure);
        }
        full.roomIsThere();
    }

    /** Answers everything that waits with this failure, but for what is durable. */
    void failAll(RelayException failure) {
        failWaiting(failure);
        confirm();
        for (Confirming publish = confirming.poll(); publish != null; publish = confirming.poll()) {
            publish.publish().refuse(failure);
        }
    }

    /** The highest sequence of that producer that was stored, or passed without an event since the relay was started; 0: none. */
    long lastSequence(String producer) {
        return Math.max(log.lastSequence(producer), passed.last(producer));
    }

    /** Answers the publish if it must not be appended, was before, or has nothing to append. */
    private boolean refuseOrRepeat(WaitingAppend publish) {
        if (publish.listener() == end) {
            ending = true;
            confirming.add(new Confirming(log.lastId(), new Appended(0, 0, false, durability), publish, null));
            return true;
        }
        RelayException objection = publish.listener().objection();
        if (objection != null) {
            refuse(publish, objection);
            return true;
        }
        ProducerSequence sequence = publish.sequence();
        long last = sequence == null ? 0 : lastSequence(sequence.producer());
        if (sequence != null && sequence.sequence() <= last) {
            repeat(publish, sequence);
            return true;
        }
        RelayException refusal = refusesAll;
        if (refusal != null) {
            refuse(publish, refusal);
            return true;
        }
        if (sequence != null) {
            if (sequence.sequence() > last + 1) {
                refuse(
                        publish,
                        new RelayException(
                                ErrorCode.OUT_OF_SEQUENCE,
                                "publish out of sequence: pipe=" + pipe + ", producer=" + sequence.producer()
                                        + ", sequence=" + sequence.sequence() + ", last=" + last
                                        + "; the next one must be " + (last + 1)));
                return true;
            }
        }
        EventGroup group = publish.group();
        if (group == null) {
            pass(publish);
            return true;
        }
        return false;
    }

    /** How many events there would be above the limit with this group. */
    private long tooMany(EventGroup group) {
        return maxEvents > 0 ? backlogEvents.getAsLong() + group.size() - maxEvents : 0;
    }

    /** The first publish does not go below the limit of unsettled events. */
    private void tooManyEvents(EventGroup group) {
        RelayException why = new RelayException(
                ErrorCode.PIPE_FULL,
                "event refused: pipe=" + pipe + ", backlogEvents=" + backlogEvents.getAsLong() + ", max-events="
                        + maxEvents + "; retry when the backlog has shrunk");
        if (group.size() > maxEvents) {
            refuse(waiting.remove(), why);
            return;
        }
        long tooMany = tooMany(group) + sizeOfFollowing(maxEvents - group.size());
        switch (full.tooManyEvents(tooMany, why, this::dropped)) {
            case WORKING -> makingRoom = true;
            case WAITS -> held = true;
            case REFUSED -> refuse(waiting.remove(), why);
        }
    }

    /** What follows the first publish and will surely be stored: one drop may make room for all of it. */
    private long sizeOfFollowing(long most) {
        long size = 0;
        Iterator<WaitingAppend> following = waiting.iterator();
        following.next();
        while (following.hasNext() && size < MOST_DROPPED_AHEAD) {
            WaitingAppend publish = following.next();
            EventGroup group = publish.sequence() == null ? publish.group() : null;
            int events = group == null ? 0 : group.size();
            if (size + events > most) {
                break;
            }
            size += events;
        }
        return size;
    }

    private int refuseOverdue() {
        int refused = 0;
        while (!makingRoom && !ending && !waiting.isEmpty()) {
            RelayException why = full.overdue(waiting.element());
            if (why == null) {
                return refused;
            }
            refuse(waiting.remove(), why);
            refused++;
        }
        if (refused > 0) {
            full.roomIsThere();
        }
        return refused;
    }

    /** Looks whether its files are there, at most once a second, while events are appended; call once a turn. */
    void checkFiles() {
        long now = nanoTime.getAsLong();
        if (checking || checkedAtId == log.lastId() || (checkedAtId >= 0 && now - checkedAtNanos < CHECK_NANOS)) {
            return;
        }
        checking = true;
        checkedAtId = log.lastId();
        checkedAtNanos = now;
        diskTasks.submit(log::checkFiles, failure -> {
            checking = false;
            if (failure != null) {
                throw PipeFailure.of(pipe, "its files were changed by somebody else", failure);
            }
        });
    }

    private void pass(WaitingAppend publish) {
        ProducerSequence sequence = publish.sequence();
        Appended answer = new Appended(0, 0, false, durability);
        if (sequence != null) {
            Long before = passed.passed(sequence);
            // not before the events of the sequences below it
            confirming.add(new Confirming(log.lastId(), answer, publish, before));
        } else {
            publish.confirm(answer);
        }
    }

    private void repeat(WaitingAppend publish, ProducerSequence sequence) {
        IdRange ids = log.idsOf(sequence);
        if (ids != null) {
            confirming.add(new Confirming(ids.last(), repeated(ids), publish, null));
            return;
        }
        AtomicReference<@Nullable IdRange> found = new AtomicReference<>();
        diskTasks.submit(() -> found.set(log.findIdsOf(sequence)), failure -> {
            commit.failed(failure);
            if (failure == null) {
                publish.confirm(repeated(found.get())); // so long ago that it was confirmed
            } else {
                publish.refuse(PipeFailure.of(pipe, "an earlier publish cannot be read", failure));
            }
        });
    }

    /** Without ids where the publish made no event, or its events are kept no more. */
    private Appended repeated(@Nullable IdRange ids) {
        return ids == null
                ? new Appended(0, 0, true, durability)
                : new Appended(ids.first(), ids.last(), true, durability);
    }

    private void append(WaitingAppend publish, EventGroup group) {
        long first;
        try {
            first = log.append(group);
        } catch (RuntimeException e) { // the pipe fails with it; whether the event is in the log is not known
            publish.refuse(e);
            throw e;
        }
        full.roomIsThere();
        long last = first + group.size() - 1;
        long bytes = 0;
        for (int i = 0; i < group.size(); i++) {
            bytes += group.payloads().get(i).size();
        }
        turnBytes += bytes + BYTES_PER_GROUP;
        appendedEvents += group.size();
        appendedBytes += bytes;
        confirming.add(new Confirming(last, new Appended(first, last, false, durability), publish, null));
        commit.appended(bytes + BYTES_PER_GROUP);
    }

    private int confirm() {
        appendedUpTo.accept(log.lastId());
        int confirmed = 0;
        long durable = log.durableId();
        while (!confirming.isEmpty() && confirming.peek().lastId() <= durable) {
            Confirming publish = confirming.poll();
            publish.publish().confirm(publish.answer());
            confirmed++;
        }
        return confirmed;
    }

    /**
     * If that makes events void, sequences go back to what is durable and all who wait are told; otherwise those who repeated
     * themselves, who may do so again. Returns true if no event waits for a force any more.
     */
    private boolean forceFailed(RelayException why) {
        confirm();
        if (log.voidUncovered() == null) {
            refuseRepeats(why);
            return false;
        }
        confirming.descendingIterator().forEachRemaining(this::takeBackPassed);
        for (Confirming publish = confirming.poll(); publish != null; publish = confirming.poll()) {
            refuse(publish.publish(), why);
        }
        return true;
    }

    private void refuseRepeats(RelayException why) {
        List<Confirming> repeats =
                confirming.stream().filter(each -> each.answer().duplicate()).toList();
        confirming.removeAll(repeats);
        repeats.forEach(repeat -> refuse(repeat.publish(), why));
    }

    private void takeBackPassed(Confirming lost) {
        ProducerSequence sequence = lost.publish().sequence();
        if (sequence != null && lost.publish().group() == null) {
            passed.takeBack(sequence.producer(), lost.passedBefore());
        }
    }

    private void refuse(WaitingAppend publish, RelayException failure) {
        metrics.refused(failure.code());
        publish.refuse(failure);
    }

    private void madeRoom(EventGroup group, @Nullable Throwable failure) {
        RelayException refusal = refusal(failure);
        if (refusal != null && isFull(refusal)) {
            noRoom(full.noRoomFor(group, refusal, this::freed), refusal);
        } else if (refusal != null) {
            refuseFor(refusal);
        }
    }

    /** Settled events were deleted, and room was made again. */
    private void freed(@Nullable Throwable failure) {
        RelayException refusal = refusal(failure);
        if (refusal != null && isFull(refusal)) {
            noRoom(full.stillNoRoom(refusal, this::dropped), refusal);
        } else if (refusal != null) {
            refuseFor(refusal);
        }
    }

    /** Events were dropped: the first publish is tried again. */
    private void dropped(@Nullable Throwable failure) {
        RelayException refusal = refusal(failure);
        if (refusal != null) {
            refuseFor(refusal);
        }
    }

    /** An I/O task has ended. Returns why there is no room; null if there is, or nobody wants it any more. */
    private @Nullable RelayException refusal(@Nullable Throwable failure) {
        makingRoom = false;
        boolean forceFailed = commit.failed(failure);
        if (failure == null) {
            commit.madeRoom();
        }
        if (waiting.isEmpty()) {
            return null; // answered meanwhile: the pipe is stopping, or has failed
        }
        if (failure == null) {
            full.roomIsThere();
            return null;
        }
        if (failure instanceof RelayException refusal && (forceFailed || refusal.code() != ErrorCode.PIPE_FAILED)) {
            return refusal;
        }
        throw PipeFailure.of(pipe, "no room can be made in its log", failure);
    }

    private static boolean isFull(RelayException refusal) {
        boolean full = refusal.code() == ErrorCode.PIPE_FULL || refusal.code() == ErrorCode.STORAGE_FULL;
        return full && !(refusal instanceof ForceFailedException);
    }

    private void noRoom(FullPipe.Verdict verdict, RelayException why) {
        switch (verdict) {
            case WORKING -> makingRoom = true;
            case WAITS -> held = true;
            case REFUSED -> refuseFor(why);
        }
    }

    /** What is too large is refused alone; for all other reasons those behind it would fare no better. */
    private void refuseFor(RelayException why) {
        boolean alone = why.code() == ErrorCode.TOO_LARGE;
        refuse(waiting.remove(), why);
        for (WaitingAppend next = alone ? null : waiting.poll(); next != null; next = waiting.poll()) {
            refuse(next, why);
        }
        full.roomIsThere();
    }
}
