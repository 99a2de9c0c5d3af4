package io.tabletrelay.core.store.log;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.IdRange;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A log in a folder, opened and reopened as a pipe would, with an id mark that outlives it.
 *
 * <p>Threading: confined to the test's thread.
 */
final class TestLog implements AutoCloseable {
    static final long SALT = 0x5A17;

    static final StoreConfig SMALL = new StoreConfig(1 << 20, 4 << 20, 0, 0, 0);

    final Path folder;
    final MemoryMark mark;
    final FaultyDisk disk = new FaultyDisk();
    StoreConfig config;
    Instant now = Instant.ofEpochMilli(1_000);
    long usableBytes = Long.MAX_VALUE / 2;
    ChronicleEventLog log;

    /** Damaged ranges as {@code first-last}, by their first id; events by id. */
    record Read(Map<Long, String> events, List<IdRange> damaged) {}

    static final class MemoryMark implements IdMark {
        private long value;

        @Override
        public long value() {
            return value;
        }

        @Override
        public void raiseTo(long id) {
            value = id;
        }
    }

    TestLog(Path folder) {
        this(folder, SMALL);
    }

    TestLog(Path folder, StoreConfig config) {
        this(folder, config, new MemoryMark());
    }

    TestLog(Path folder, StoreConfig config, MemoryMark mark) {
        this.folder = folder;
        this.mark = mark;
        this.config = config;
        log = open(0, false);
    }

    long keptFromId = LogOrigin.NOT_KNOWN;

    ChronicleEventLog open(long atLeastId, boolean bootChanged) {
        LongSupplier usable = () -> usableBytes;
        LogOrigin origin = new LogOrigin(7, SALT, 1, atLeastId, bootChanged, keptFromId);
        return ChronicleEventLog.open(folder, new LogLimits("orders", config), origin, mark, () -> now, usable, disk);
    }

    void reopen() {
        reopen(0, false);
    }

    void reopen(long atLeastId, boolean bootChanged) {
        log.close();
        log = open(atLeastId, bootChanged);
    }

    long append(String... texts) {
        return append(group(null, texts));
    }

    long append(EventGroup group) {
        if (!log.hasRoomFor(group)) {
            log.makeRoomFor(group);
        }
        return log.append(group);
    }

    static EventGroup group(@Nullable ProducerSequence sequence, String... texts) {
        List<Payload> payloads = new ArrayList<>();
        for (String text : texts) {
            payloads.add(new Payload("text/plain", Map.of(), ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8))));
        }
        return new EventGroup(payloads, sequence, 500);
    }

    static EventGroup bytes(int size) {
        return new EventGroup(List.of(new Payload("b", Map.of(), ByteBuffer.allocate(size))), null, 500);
    }

    Read readAll() {
        try (EventTailer tailer = log.openTailer()) {
            return readAll(tailer);
        }
    }

    static Read readAll(EventTailer tailer) {
        Read read = new Read(new TreeMap<>(), new ArrayList<>());
        while (true) {
            switch (tailer.nextOpened()) {
                case EVENT ->
                    read.events()
                            .put(
                                    tailer.id(),
                                    StandardCharsets.UTF_8
                                            .decode(tailer.payload())
                                            .toString());
                case DAMAGED -> read.damaged().add(new IdRange(tailer.id(), tailer.lastId()));
                case END, OPENING -> {
                    return read;
                }
            }
        }
    }

    /** The segments' queue files, oldest first. */
    List<Path> files() {
        return log.segments().stream().map(segment -> segment.folder().file()).toList();
    }

    @Override
    public void close() {
        log.close();
    }
}
