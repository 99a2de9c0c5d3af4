package io.tabletrelay.core.store.check;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import io.tabletrelay.core.store.folder.StillDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A data directory with one pipe that has a little of everything: two sealed segments and a newest one, groups, void ids, settled
 * ids with holes, attempts, one of them forgotten, dead letters, and the tombstone of another pipe.
 *
 * <p>Threading: confined to the thread that uses it.
 */
record SmallPipe(Path root) {
    static final String NAME = "plant";
    static final StoreConfig SIZES = new StoreConfig(1 << 20, 64 << 10, 0, 0, 0);
    static final String PRODUCER = "line-1";
    private static final int EVENTS_OF_SEGMENT = 5;
    private static final String GONE = "gone";
    private static final InstantSource CLOCK = () -> Instant.ofEpochMilli(1_700_000_000_000L);

    /** What is done with the open pipe. */
    interface Work<T> {
        T with(PipeStore store);
    }

    /** {@code killed}: the last run was not closed in order. */
    static SmallPipe write(Path root, boolean killed) throws IOException {
        SmallPipe pipe = new SmallPipe(root);
        try (DataDirectory directory = pipe.directory()) {
            directory.pipe(new PipeName(GONE));
            directory.delete(new PipeName(GONE));
        }
        for (int segment = 0; segment < 3; segment++) {
            pipe.open(pipe::writeSegment);
        }
        if (killed) {
            pipe.forgetEnds();
        }
        return pipe;
    }

    <T> T open(Work<T> work) {
        try (DataDirectory directory = directory();
                PipeStore store = PipeStore.open(directory.pipe(new PipeName(NAME)), SIZES, 1 << 20, CLOCK)) {
            return work.with(store);
        }
    }

    /** As {@code relay check-data} would. */
    DataReport check() throws IOException {
        try (StillDirectory still = StillDirectory.open(root)) {
            return new DataCheck(still, SIZES, null).run(bytes -> {});
        }
    }

    private DataDirectory directory() {
        return DataDirectory.open(root, CLOCK, () -> "boot");
    }

    private boolean writeSegment(PipeStore store) {
        EventLog log = store.log();
        long first = log.lastId() + 1;
        for (int i = 0; i < EVENTS_OF_SEGMENT - 3; i++) {
            append(log, texts(1, log.lastId() + 1), new ProducerSequence(PRODUCER, log.lastId() + 1));
        }
        append(log, texts(3, log.lastId() + 1), null);
        long last = log.lastId();
        store.settled().raiseDeliveredUpTo(last - 1);
        for (long id : new long[] {first, first + 1, first + 3}) {
            store.settled().settle(id);
        }
        store.attempts().record(first + 2, 2, 5_000 + first, "negative ack");
        store.attempts().record(first + 1, 1, 6_000, "ack timeout");
        store.attempts().flush();
        store.attempts().forget(first + 1);
        if (first == 1) {
            append(store.deadLetterLog(), List.of("letter of " + first, "another"), null);
        }
        return true;
    }

    private static List<String> texts(int count, long firstId) {
        List<String> texts = new ArrayList<>();
        for (long id = firstId; id < firstId + count; id++) {
            texts.add("reading " + id + " " + "x".repeat((int) (id % 5)));
        }
        return texts;
    }

    static long append(EventLog log, List<String> texts, @Nullable ProducerSequence sequence) {
        List<Payload> payloads = texts.stream()
                .map(text -> new Payload(
                        "text/plain",
                        Map.of("source", "s" + text.length()),
                        ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8))))
                .toList();
        EventGroup group = new EventGroup(payloads, sequence, 1_600_000_000_000L);
        if (!log.hasRoomFor(group)) {
            log.makeRoomFor(group);
        }
        return log.append(group);
    }

    private void forgetEnds() throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            for (Path note : all.filter(path -> path.endsWith("ended") || path.endsWith("covered"))
                    .toList()) {
                Files.delete(note);
            }
        }
    }
}
