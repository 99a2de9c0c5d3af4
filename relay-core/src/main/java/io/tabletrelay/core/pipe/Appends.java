package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.IdRange;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes on their way into an open log: waiting for room, appended, confirmed.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class Appends {
    private static final long BYTES_A_TURN = 1 << 20;
    /** What a publish costs besides its payloads, so that many tiny ones make up a turn as well. */
    private static final int BYTES_PER_GROUP = 128;

    private record Confirming(long lastId, Appended answer, WaitingAppend publish) {}

    private final PipeName pipe;
    private final EventLog log;
    private final DiskTasks diskTasks;
    private final long maxEvents;
    private final LongSupplier backlogEvents;
    private final Durability durability;
    private final PassedSequences passed;
    private final PipeMetrics metrics;
    private final ArrayDeque<WaitingAppend> waiting = new ArrayDeque<>();
    private final ArrayDeque<Confirming> confirming = new ArrayDeque<>();
    private long turnBytes;
    /** In this turn. */
    private int appendedEvents;

    private long appendedBytes;
    private boolean makingRoom;
    private boolean allocating;
    private long triedAllocatingAtId = -1;

    Appends(
            PipeName pipe,
            EventLog log,
            DiskTasks diskTasks,
            long maxEvents,
            LongSupplier backlogEvents,
            Durability durability,
            PassedSequences passed,
            PipeMetrics metrics) {
        this.pipe = pipe;
        this.log = log;
        this.diskTasks = diskTasks;
        this.maxEvents = maxEvents;
        this.backlogEvents = backlogEvents;
        this.durability = durability;
        this.passed = passed;
        this.metrics = metrics;
    }

    void add(WaitingAppend publish) {
        waiting.add(publish);
    }

    /** Appends what there is room for, up to a turn's share, and confirms what is durable. Returns how much was done. */
    int turn() {
        int answered = 0;
        turnBytes = 0;
        while (!waiting.isEmpty() && !makingRoom && turnBytes < BYTES_A_TURN) {
            WaitingAppend next = waiting.remove(); // before it is answered
            EventGroup group = next.group();
            if (refuseOrRepeat(next) || group == null) {
                answered++;
            } else if (log.hasRoomFor(group)) {
                append(next, group);
            } else {
                waiting.addFirst(next);
                makingRoom = true;
                diskTasks.submit(() -> log.makeRoomFor(group), this::madeRoom);
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
        boolean goesOn = !waiting.isEmpty() && !makingRoom;
        return answered + confirm() + (goesOn ? 1 : 0);
    }

    /** True: nobody waits for an answer. */
    boolean isIdle() {
        return waiting.isEmpty() && confirming.isEmpty();
    }

    /** Answers everything that waits with this failure. */
    void failAll(RelayException failure) {
        for (WaitingAppend publish = waiting.poll(); publish != null; publish = waiting.poll()) {
            refuse(publish, failure);
        }
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
        ProducerSequence sequence = publish.sequence();
        if (sequence != null) {
            long last = lastSequence(sequence.producer());
            if (sequence.sequence() <= last) {
                repeat(publish, sequence);
                return true;
            }
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
        long backlog = maxEvents > 0 ? backlogEvents.getAsLong() : 0;
        if (maxEvents > 0 && backlog + group.size() > maxEvents) {
            refuse(
                    publish,
                    new RelayException(
                            ErrorCode.PIPE_FULL,
                            "event refused: pipe=" + pipe + ", backlogEvents=" + backlog + ", max-events=" + maxEvents
                                    + "; retry when the backlog has shrunk"));
            return true;
        }
        return false;
    }

    private void pass(WaitingAppend publish) {
        ProducerSequence sequence = publish.sequence();
        if (sequence != null) {
            passed.passed(sequence);
        }
        publish.confirm(new Appended(0, 0, false, durability));
    }

    private void repeat(WaitingAppend publish, ProducerSequence sequence) {
        IdRange ids = log.idsOf(sequence);
        if (ids != null) {
            confirming.add(new Confirming(ids.last(), repeated(ids), publish));
            return;
        }
        AtomicReference<@Nullable IdRange> found = new AtomicReference<>();
        diskTasks.submit(() -> found.set(log.findIdsOf(sequence)), failure -> {
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
        long last = first + group.size() - 1;
        long bytes = 0;
        for (int i = 0; i < group.size(); i++) {
            bytes += group.payloads().get(i).size();
        }
        turnBytes += bytes + BYTES_PER_GROUP;
        appendedEvents += group.size();
        appendedBytes += bytes;
        confirming.add(new Confirming(last, new Appended(first, last, false, durability), publish));
    }

    private int confirm() {
        int confirmed = 0;
        long durable = log.durableId();
        while (!confirming.isEmpty() && confirming.peek().lastId() <= durable) {
            Confirming publish = confirming.poll();
            publish.publish().confirm(publish.answer());
            confirmed++;
        }
        return confirmed;
    }

    private void refuse(WaitingAppend publish, RelayException failure) {
        metrics.refused(failure.code());
        publish.refuse(failure);
    }

    private void madeRoom(@Nullable Throwable failure) {
        makingRoom = false;
        if (waiting.isEmpty()) {
            return; // answered meanwhile: the pipe is stopping, or has failed
        }
        if (failure instanceof RelayException refusal && refusal.code() == ErrorCode.TOO_LARGE) {
            refuse(waiting.remove(), refusal);
        } else if (failure instanceof RelayException refusal && refusal.code() != ErrorCode.PIPE_FAILED) {
            for (WaitingAppend publish = waiting.poll(); publish != null; publish = waiting.poll()) {
                refuse(publish, refusal);
            }
        } else if (failure != null) {
            throw PipeFailure.of(pipe, "no room can be made in its log", failure);
        }
    }
}
