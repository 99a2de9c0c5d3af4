package io.tabletrelay.core;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.folder.BootId;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A data directory as a relay leaves it, written without one.
 *
 * <p>Threading: confined to the test's thread.
 */
record TestData(Path path) {
    static final StoreConfig SMALL = new StoreConfig(1 << 20, 4 << 20, 0, 0, 0);
    private static final InstantSource CLOCK = () -> Instant.ofEpochMilli(1_700_000_000_000L);

    /** What is done with an open pipe. */
    interface Work {
        void with(PipeStore store);
    }

    TestData open(String pipe, Work work) {
        return open(pipe, SMALL, work);
    }

    TestData open(String pipe, StoreConfig sizes, Work work) {
        try (DataDirectory directory = directory();
                PipeStore store = PipeStore.open(directory.pipe(new PipeName(pipe)), sizes, 1 << 20, CLOCK)) {
            work.with(store);
        }
        return this;
    }

    DataDirectory directory() {
        return DataDirectory.open(path, CLOCK, BootId::current);
    }

    /** Appends events "event 1" and so on, the settled ones being those whose id is a multiple of three. */
    TestData write(String pipe, int events) {
        return open(pipe, store -> {
            for (int i = 1; i <= events; i++) {
                long id = append(store, "event " + i, new ProducerSequence("producer", i));
                store.settled().raiseDeliveredUpTo(id);
                if (id % 3 == 0) {
                    store.settled().settle(id);
                }
            }
            store.attempts().record(1, 2, 5_000, "negative ack");
            store.attempts().record(2, 3, 6_000, "ack timeout");
        });
    }

    static long append(PipeStore store, String text, @Nullable ProducerSequence sequence) {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        EventGroup group = new EventGroup(List.of(new Payload("text/plain", Map.of(), bytes)), sequence, 500);
        if (!store.log().hasRoomFor(group)) {
            store.log().makeRoomFor(group);
        }
        return store.log().append(group);
    }

    /** The payloads of all events that can be read, by id. */
    static Map<Long, String> read(PipeStore store) {
        Map<Long, String> events = new TreeMap<>();
        try (EventTailer tailer = store.log().openTailer()) {
            EventTailer.Step step = tailer.nextOpened();
            for (; step != EventTailer.Step.END; step = tailer.nextOpened()) {
                if (step == EventTailer.Step.EVENT) {
                    events.put(
                            tailer.id(),
                            StandardCharsets.UTF_8.decode(tailer.payload()).toString());
                }
            }
        }
        return events;
    }

    /** The files of a pipe whose names end like that, oldest first. */
    List<Path> files(String pipe, String suffix) throws IOException {
        try (Stream<Path> all = Files.walk(path.resolve("pipes").resolve(pipe))) {
            return all.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
        }
    }

    static void flip(Path file, String text) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(text);
        bytes[at] ^= 1;
        Files.write(file, bytes);
    }

    /** Every file and folder with its content, size, owner's rights and time of its last change. */
    static Map<String, String> digest(Path root) throws IOException {
        Map<String, String> digests = new HashMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path path : all.toList()) {
                String content = Files.isDirectory(path) ? "" : sha256(Files.readAllBytes(path));
                digests.put(
                        root.relativize(path).toString(),
                        content + " " + Files.readAttributes(path, "unix:size,mode,lastModifiedTime,ctime,ino,nlink"));
            }
        }
        return digests;
    }

    private static String sha256(byte[] bytes) {
        try {
            return new String(MessageDigest.getInstance("SHA-256").digest(bytes), StandardCharsets.ISO_8859_1);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
