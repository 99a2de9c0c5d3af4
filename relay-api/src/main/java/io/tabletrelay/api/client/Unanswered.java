package io.tabletrelay.api.client;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Events that were published and not yet answered, in their order: first those that were sent, then those that are to be. Those
 * that have a sequence stand before those that have none, and sequences rise.
 *
 * <p>Threading: confined to the producer's loop.
 */
final class Unanswered {
    private static final long KEPT_BYTES = 8 << 20;

    /** Refused behind the last stored. */
    private final NavigableMap<Long, Item> refused = new TreeMap<>();

    private long refusedBytes;
    private final Deque<Item> sent = new ArrayDeque<>();
    private final Deque<Item> waiting = new ArrayDeque<>();

    /**
     * One event.
     *
     * <p>Threading: made by the publisher, then confined to the producer's loop.
     */
    static final class Item {
        private final CompletableFuture<Stored> stored = new CompletableFuture<>();
        private final int payloadBytes;
        private ByteBuffer frame;
        private long sequence;
        /** Its place among all that this producer published. */
        private long number;

        /** @param frame begins with eight bytes for the sequence */
        Item(ByteBuffer frame, int payloadBytes) {
            this.frame = frame;
            this.payloadBytes = payloadBytes;
        }

        CompletableFuture<Stored> stored() {
            return stored;
        }

        int frameBytes() {
            return frame.capacity();
        }

        int payloadBytes() {
            return payloadBytes;
        }

        long sequence() {
            return sequence;
        }

        ByteBuffer frame() {
            return frame.duplicate();
        }

        /** A frame that was sent under another number may still be read by a connection that is being given up. */
        private void number(long newSequence) {
            if (sequence != 0 && sequence != newSequence) {
                frame = ByteBuffer.allocate(frame.capacity())
                        .put(frame.duplicate())
                        .flip();
            }
            sequence = newSequence;
            frame.putLong(0, newSequence);
        }
    }

    void add(Item item, long number) {
        item.number = number;
        waiting.add(item);
    }

    boolean isEmpty() {
        return sent.isEmpty() && waiting.isEmpty();
    }

    /** The place of the oldest; {@link Long#MAX_VALUE} if there is none. */
    long oldestNumber() {
        Item oldest = oldest();
        return oldest == null ? Long.MAX_VALUE : oldest.number;
    }

    /** The sequence of the oldest; 0 if it has none. */
    long oldestSequence() {
        Item oldest = oldest();
        return oldest == null ? 0 : oldest.sequence;
    }

    private @Nullable Item oldest() {
        return sent.isEmpty() ? waiting.peek() : sent.peek();
    }

    /** What goes out next; null if nothing waits. */
    @Nullable
    Item nextToSend() {
        return waiting.peek();
    }

    /** The next one goes out, under this number if it has none. */
    void sending(long nextSequence) {
        Item item = waiting.remove();
        if (item.sequence == 0) {
            item.number(nextSequence);
        }
        sent.add(item);
    }

    /** The next one will not be sent. */
    void dropNext() {
        waiting.remove();
    }

    /** Everything sent is to be sent again. */
    void goBack() {
        while (!sent.isEmpty()) {
            waiting.addFirst(sent.removeLast());
        }
    }

    /** What has a number gets a new one, from the given one on; returns the number after the last. Only after {@link #goBack}. */
    long renumber(long from) {
        long next = from;
        for (Item item : waiting) {
            if (item.sequence == 0) {
                break;
            }
            item.number(next++);
        }
        return next;
    }

    /** Takes out everything that was sent up to this sequence. */
    void answeredUpTo(long sequence, Consumer<Item> answered) {
        for (Item item = oldest(); item != null && item.sequence != 0 && item.sequence <= sequence; item = oldest()) {
            (sent.isEmpty() ? waiting : sent).remove();
            answered.accept(item);
        }
        forgetRefusedUpTo(sequence);
    }

    /** Takes one out that was refused for good; null if it is not there. */
    @Nullable
    Item refused(long sequence) {
        Item item = take(sent, sequence);
        item = item != null ? item : take(waiting, sequence);
        if (item != null) {
            refused.put(sequence, item);
            refusedBytes += item.frameBytes();
            while (refusedBytes > KEPT_BYTES) {
                refusedBytes -= refused.pollFirstEntry().getValue().frameBytes();
            }
        }
        return item;
    }

    /** The relay has forgotten what it refused behind the last stored: it is to be refused again. Only after {@link #goBack}. */
    void askAgain(long lastStored) {
        forgetRefusedUpTo(lastStored);
        if (!refused.isEmpty()) {
            for (Item item = waiting.peek(); item != null && item.sequence != 0; item = waiting.peek()) {
                refused.put(item.sequence, waiting.remove());
            }
            refused.descendingMap().values().forEach(waiting::addFirst);
            forgetRefused();
        }
    }

    void forgetRefused() {
        refused.clear();
        refusedBytes = 0;
    }

    private void forgetRefusedUpTo(long sequence) {
        while (!refused.isEmpty() && refused.firstKey() <= sequence) {
            refusedBytes -= refused.pollFirstEntry().getValue().frameBytes();
        }
    }

    private static @Nullable Item take(Deque<Item> items, long sequence) {
        for (Iterator<Item> all = items.iterator(); all.hasNext(); ) {
            Item item = all.next();
            if (item.sequence == sequence && sequence != 0) {
                all.remove();
                return item;
            }
        }
        return null;
    }

    /** Takes out all. */
    List<Item> clear() {
        List<Item> all = new ArrayList<>(sent);
        all.addAll(waiting);
        sent.clear();
        waiting.clear();
        return all;
    }
}
