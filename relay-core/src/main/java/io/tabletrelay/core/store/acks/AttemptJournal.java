package io.tabletrelay.core.store.acks;

import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one subscription's failing events: how often each failed, when it is due again, and why. Events that do
 * not fail, nearly all, are never in it.
 *
 * <p>A flush survives a kill when it has returned; it is not forced, so a power cut may forget attempts, which costs
 * deliveries and loses no event. The file exists from the first flush on, and is written anew when most of it is history.
 *
 * <p>Threading: created by an I/O thread, used by the pipe's transfer thread but for {@link #flush}, which I/O threads run,
 * one at a time; changes pass from one to the other under a lock that is never held over a disk call.
 */
public final class AttemptJournal {
    /** Where the journal is longer than this and mostly history, it is written anew. */
    static final int COMPACT_FROM_BYTES = 1 << 16;

    private final Path path;
    private final @Nullable Path damagedFile;
    private final long cutBytes;
    private final TreeMap<Long, Attempt> attempts = new TreeMap<>();

    private final Object lock = new Object();
    private Map<Long, Change> unflushed = new LinkedHashMap<>();

    /** What the file says, and how long it is; I/O threads only. */
    private final Map<Long, Attempt> written;

    private long fileBytes;

    /**
     * A failing event.
     *
     * <p>Threading: immutable.
     *
     * @param failedDeliveries negative acks and timeouts so far
     * @param dueAtMillis when it is delivered again, ms since the epoch
     * @param reason why it failed last, cut to {@value AttemptFormat#MAX_REASON_BYTES} UTF-8 bytes
     */
    public record Attempt(long id, int failedDeliveries, long dueAtMillis, String reason) {}

    /** The newest thing to say of an event: its attempt, or that it is forgotten (null). */
    record Change(long id, @Nullable Attempt attempt) {}

    private AttemptJournal(
            Path path, Map<Long, Attempt> written, long fileBytes, long cutBytes, @Nullable Path damaged) {
        this.path = path;
        this.written = written;
        this.fileBytes = fileBytes;
        this.cutBytes = cutBytes;
        this.damagedFile = damaged;
        attempts.putAll(written);
    }

    /**
     * Reads the journal; there need not be one. A record that was cut short at its end is cut off. A damaged one is set aside,
     * and written anew at the next flush, without the records that cannot be read. I/O thread.
     */
    public static AttemptJournal open(Path path) {
        try {
            Files.deleteIfExists(SmallFile.temp(path));
            if (!Files.exists(path)) {
                return new AttemptJournal(path, new HashMap<>(), 0, 0, null);
            }
            AttemptFile file = AttemptFile.read(path);
            if (file.isDamaged()) {
                return new AttemptJournal(path, file.attempts(), 0, 0, SmallFile.setAside(path));
            }
            return new AttemptJournal(path, file.attempts(), file.wholeBytes(), file.cutBytes(), null);
        } catch (IOException e) {
            throw SmallFile.failure("attempts cannot be read", path, e);
        }
    }

    /** Where the file went that was found damaged at the open; or null. */
    public @Nullable Path damagedFile() {
        return damagedFile;
    }

    /** Bytes behind the last whole record that were cut off at the open; a few after a kill are normal. */
    public long cutBytes() {
        return cutBytes;
    }

    public void record(long id, int failedDeliveries, long dueAtMillis, String reason) {
        Attempt attempt = new Attempt(id, failedDeliveries, dueAtMillis, AttemptFormat.cut(reason));
        attempts.put(id, attempt);
        add(new Change(id, attempt));
    }

    /** The event failed no more: it was settled. Nothing happens if it never failed. */
    public void forget(long id) {
        if (attempts.remove(id) != null) {
            add(new Change(id, null));
        }
    }

    /** Forgets all up to this id. */
    public void forgetUpTo(long id) {
        while (!attempts.isEmpty() && attempts.firstKey() <= id) {
            forget(attempts.firstKey());
        }
    }

    public @Nullable Attempt attempt(long id) {
        return attempts.get(id);
    }

    /** All failing events, by id. */
    public void forEach(Consumer<Attempt> action) {
        attempts.values().forEach(action);
    }

    public int size() {
        return attempts.size();
    }

    /** True: there is something to flush. Any thread. */
    public boolean dirty() {
        synchronized (lock) {
            return !unflushed.isEmpty();
        }
    }

    /**
     * Writes what has changed; what changes meanwhile waits for the next flush. I/O thread.
     *
     * @throws StoreException if the disk refuses; the changes are kept for the next flush
     */
    public void flush() {
        Map<Long, Change> changes;
        synchronized (lock) {
            changes = unflushed;
            unflushed = new LinkedHashMap<>();
        }
        if (changes.isEmpty()) {
            return;
        }
        try {
            write(changes.values());
        } catch (IOException e) {
            putBack(changes);
            throw ForceFailedException.unlessFull("attempts cannot be written", path, e);
        }
    }

    private void add(Change change) {
        synchronized (lock) {
            unflushed.put(change.id(), change);
        }
    }

    private void putBack(Map<Long, Change> changes) {
        synchronized (lock) {
            changes.putAll(unflushed);
            unflushed = changes;
        }
    }

    private void write(Collection<Change> changes) throws IOException {
        ByteBuffer records = AttemptFormat.write(changes);
        if (fileBytes == 0 || fileBytes + records.remaining() > compactAboveBytes()) {
            Map<Long, Attempt> live = new HashMap<>(written);
            changes.forEach(change -> AttemptFile.apply(change, live));
            writeAnew(live);
        } else {
            append(records);
        }
        changes.forEach(change -> AttemptFile.apply(change, written));
    }

    private long compactAboveBytes() {
        return Math.max(COMPACT_FROM_BYTES, 4L * written.size() * AttemptFormat.MAX_RECORD_BYTES);
    }

    private void writeAnew(Map<Long, Attempt> live) throws IOException {
        List<Change> all = new ArrayList<>(live.size());
        live.forEach((id, attempt) -> all.add(new Change(id, attempt)));
        byte[] content = AttemptFormat.file(all);
        Files.createDirectories(SmallFile.parent(path));
        SmallFile.replace(path, content);
        fileBytes = content.length;
    }

    /** Whatever an earlier append that failed, or a kill, left behind the last whole record goes first. */
    private void append(ByteBuffer records) throws IOException {
        int length = records.remaining();
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.truncate(fileBytes);
            SmallFile.writeFully(channel, records, fileBytes);
        }
        fileBytes += length;
    }
}
