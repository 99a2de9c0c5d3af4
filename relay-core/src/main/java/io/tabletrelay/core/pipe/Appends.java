package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.IdRange;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes on their way into an open log: waiting for room, appended, confirmed.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class Appends {
    private static final int MOST_PASSED = 10_000;
    private static final long BYTES_A_TURN = 1 << 20;
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
    private final long maxEvents;
    private final LongSupplier backlogEvents;
    private final Durability durability;
    private final GroupCommit commit;
    private final PipeMetrics metrics;
    private final ArrayDeque<WaitingAppend> waiting = new ArrayDeque<>();
    /** The last sequence of each producer that stored nothing; the producers that were here longest ago are forgotten. */
    private final Map<String, Long> passed = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MOST_PASSED;
        }
    };

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
            StoreConfig config,
            LongSupplier backlogEvents,
            LongSupplier nanoTime,
            PipeMetrics metrics) {
        this.pipe = pipe;
        this.log = log;
        this.diskTasks = diskTasks;
        this.maxEvents = config.maxEvents();
        this.backlogEvents = backlogEvents;
        this.durability = config.durability();
        this.commit = new GroupCommit(pipe, log, diskTasks, config, nanoTime, this::forceFailed);
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
            } else if (commit.refusal() != null) {
                refuse(next, commit.refusal());
                answered++;
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

    /** Answers everything that is not appended yet with this failure. */
    void failWaiting(RelayException failure) {
        for (WaitingAppend publish = waiting.poll(); publish != null; publish = waiting.poll()) {
            refuse(publish, failure);
        }
    }

    /** Answers everything that waits with this failure, but for what is durable. */
    void failAll(RelayException failure) {
        failWaiting(failure);
        confirm();
        for (Confirming publish = confirming.poll(); publish != null; publish = confirming.poll()) {
            publish.publish().refuse(failure);
        }
    }

    /** The highest sequence of that producer that was stored, or passed without an event since the pipe was opened; 0: none. */
    long lastSequence(String producer) {
        return Math.max(log.lastSequence(producer), passed.getOrDefault(producer, 0L));
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
        Appended answer = new Appended(0, 0, false, durability);
        if (sequence != null) {
            Long before = passed.put(sequence.producer(), sequence.sequence());
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
        int confirmed = 0;
        long durable = log.durableId();
        while (!confirming.isEmpty() && confirming.peek().lastId() <= durable) {
            Confirming publish = confirming.poll();
            publish.publish().confirm(publish.answer());
            confirmed++;
        }
        return confirmed;
    }

    /** What is not durable will not be: sequences go back to what is, and the producers are told. */
    private void forceFailed(RelayException why) {
        confirm();
        log.voidUncovered();
        confirming.descendingIterator().forEachRemaining(this::takeBackPassed);
        for (Confirming publish = confirming.poll(); publish != null; publish = confirming.poll()) {
            refuse(publish.publish(), why);
        }
    }

    private void takeBackPassed(Confirming lost) {
        ProducerSequence sequence = lost.publish().sequence();
        if (sequence != null && lost.publish().group() == null) {
            passed.remove(sequence.producer());
            if (lost.passedBefore() != null) {
                passed.put(sequence.producer(), lost.passedBefore());
            }
        }
    }

    private void refuse(WaitingAppend publish, RelayException failure) {
        metrics.refused(failure.code());
        publish.refuse(failure);
    }

    private void madeRoom(@Nullable Throwable failure) {
        makingRoom = false;
        boolean forceFailed = commit.failed(failure);
        if (waiting.isEmpty()) {
            return; // answered meanwhile: the pipe is stopping, or has failed
        }
        if (failure instanceof RelayException refusal && refusal.code() == ErrorCode.TOO_LARGE) {
            refuse(waiting.remove(), refusal);
        } else if (failure instanceof RelayException refusal
                && (forceFailed || refusal.code() != ErrorCode.PIPE_FAILED)) {
            for (WaitingAppend publish = waiting.poll(); publish != null; publish = waiting.poll()) {
                refuse(publish, refusal);
            }
        } else if (failure != null) {
            throw PipeFailure.of(pipe, "no room can be made in its log", failure);
        }
    }
}
