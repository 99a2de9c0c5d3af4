package io.tabletrelay.core.delivery;

import io.tabletrelay.api.Payload;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventTailer;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Events on their way to the dead letters. Each is settled only after its dead letter is durable; until that can be written
 * it waits here and is tried again.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class GivingUp {
    private static final int MOST_COLLECTED = 4096;
    private static final long MOST_BYTES_COLLECTED = 16L << 20;
    static final int MOST_IN_A_BATCH = 256;
    private static final int MOST_BYTES_IN_A_BATCH = 4 << 20;
    private static final long RETRY_NANOS = 1_000_000_000L;

    private record Letter(long eventId, Payload payload) {}

    private final DeadLetters deadLetters;
    private final DiskTasks diskTasks;
    private final LongConsumer onKept;
    private final LongSupplier nanoTime;
    private final InstantSource clock;
    private final ArrayDeque<Letter> collected = new ArrayDeque<>();
    private final Set<Long> ids = new HashSet<>();
    private long bytes;
    private boolean writing;
    private String trouble = "";
    private long retryAtNanos;

    /** {@code onKept} is called with the id of each event whose dead letter is durable. */
    GivingUp(
            DeadLetters deadLetters,
            DiskTasks diskTasks,
            LongConsumer onKept,
            LongSupplier nanoTime,
            InstantSource clock) {
        this.deadLetters = deadLetters;
        this.diskTasks = diskTasks;
        this.onKept = onKept;
        this.nanoTime = nanoTime;
        this.clock = clock;
    }

    int size() {
        return ids.size();
    }

    boolean contains(long id) {
        return !ids.isEmpty() && ids.contains(id);
    }

    /** True: so much waits to be written that no further event should be given up. */
    boolean isFull() {
        return ids.size() >= MOST_COLLECTED || bytes >= MOST_BYTES_COLLECTED;
    }

    /** Why dead letters cannot be written at the moment; empty if they can. */
    String trouble() {
        return trouble;
    }

    /** Gives up the event on which the tailer stands; the reason is a word, the last error says more. */
    void event(EventTailer at, String reason, int failedDeliveries, String lastError) {
        ByteBuffer copy = ByteBuffer.allocate(at.payload().remaining());
        copy.put(at.payload().duplicate()).flip();
        Payload event = new Payload(at.contentType(), at.headers(), copy);
        collect(at.id(), deadLetters.describe(event, at.id(), reason, failedDeliveries, lastError));
    }

    /** Gives up an event whose record is lost. */
    void damaged(long id) {
        Payload nothing = new Payload("", Map.of(), ByteBuffer.allocate(0));
        collect(id, deadLetters.describe(nothing, id, DeadLetters.DAMAGED, 0, "the record cannot be read"));
    }

    /** Hands what was collected to the disk, one batch at a time. Returns true if there was something to hand over. */
    boolean write() {
        if (writing || collected.isEmpty() || (!trouble.isEmpty() && nanoTime.getAsLong() - retryAtNanos < 0)) {
            return false;
        }
        List<Letter> batch = new ArrayList<>();
        long batchBytes = 0;
        while (!collected.isEmpty() && batch.size() < MOST_IN_A_BATCH && batchBytes < MOST_BYTES_IN_A_BATCH) {
            Letter letter = collected.poll();
            batchBytes += letter.payload().size();
            batch.add(letter);
        }
        writing = true;
        List<Payload> payloads = batch.stream().map(Letter::payload).toList();
        diskTasks.submit(
                () -> deadLetters.append(new EventGroup(payloads, null, clock.millis())),
                failure -> written(batch, failure));
        return true;
    }

    /** Events from the first to the last id were settled otherwise; a dead letter that is being written may come all the same. */
    void forget(long firstId, long lastId) {
        if (!ids.isEmpty() && ids.removeIf(id -> firstId <= id && id <= lastId)) {
            for (Iterator<Letter> each = collected.iterator(); each.hasNext(); ) {
                Letter letter = each.next();
                if (firstId <= letter.eventId() && letter.eventId() <= lastId) {
                    each.remove();
                    bytes -= letter.payload().size();
                }
            }
        }
    }

    /** When to try again, or {@code otherwise} when nothing has to wait. */
    long retryNanos(long otherwise) {
        return trouble.isEmpty() || collected.isEmpty() || writing ? otherwise : retryAtNanos;
    }

    private void collect(long id, Payload letter) {
        ids.add(id);
        bytes += letter.size();
        collected.add(new Letter(id, letter));
    }

    private void written(List<Letter> batch, @Nullable Throwable failure) {
        writing = false;
        if (failure == null) {
            trouble = "";
            for (Letter letter : batch) {
                ids.remove(letter.eventId());
                bytes -= letter.payload().size();
                onKept.accept(letter.eventId());
            }
        } else {
            trouble = "dead letters cannot be written: " + failure.getMessage();
            retryAtNanos = nanoTime.getAsLong() + RETRY_NANOS;
            for (int i = batch.size() - 1; i >= 0; i--) {
                if (ids.contains(batch.get(i).eventId())) {
                    collected.addFirst(batch.get(i));
                } else {
                    bytes -= batch.get(i).payload().size();
                }
            }
        }
    }
}
