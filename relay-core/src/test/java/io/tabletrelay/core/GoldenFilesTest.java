package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A data directory of format version 1 as it was once written is read by every later version (BR-026). Its files are never
 * written again: a new format gets files of its own beside them.
 */
class GoldenFilesTest {
    private static final PipeName PLANT = new PipeName("plant");
    private static final PipeName DISK = new PipeName("Größe 1/2");
    private static final PipeName GONE = new PipeName("gone");
    private static final long MOST_IDS = 1_000;
    private static final int BLOCK_BYTES = 4096;

    @TempDir
    private Path folder;

    @Test
    void whatVersionOneWroteIsRead() throws IOException {
        unpack("store-v1.zip", folder);

        assertThat(describe(folder)).isEqualTo(resource("store-v1.txt"));
        new TestData(folder)
                .open(
                        PLANT.value(),
                        store -> assertThat(TestData.append(store, "next", new ProducerSequence("csv", 4)))
                                .isGreaterThan(13));
        try (DataDirectory directory = new TestData(folder).directory()) {
            assertThat(directory.pipes()).doesNotContain(GONE);
            assertThat(directory.pipe(GONE).epoch()).as("the tombstone is read").isGreaterThan(1_700_000_000_000L);
        }
    }

    /** Run once for each format: {@code -Dgolden.write=src/test/resources/golden/store-v1}. */
    @Test
    @EnabledIfSystemProperty(named = "golden.write", matches = ".+")
    void write() throws IOException {
        TestData data = new TestData(folder);
        try (DataDirectory directory = data.directory()) {
            directory.create(
                    DISK, new PipeSettings(Map.of("durability", "disk", "tablet-format", "v1", "retain", "7d,1GiB")));
            directory.pipe(GONE);
            directory.delete(GONE);
        }
        data.open(PLANT.value(), GoldenFilesTest::firstRun).open(PLANT.value(), GoldenFilesTest::secondRun);
        data.open(DISK.value(), store -> {
            append(store.log(), null, new Payload("a/b", Map.of(), bytes(70)));
            append(store.log(), new ProducerSequence("forced", 1), new Payload("a/b", Map.of(), bytes(7)));
            store.log().force();
        });
        Path target = Path.of(Objects.requireNonNull(System.getProperty("golden.write")));
        Files.createDirectories(Objects.requireNonNull(target.getParent()));
        pack(folder, target.resolveSibling(target.getFileName() + ".zip"));
        Path read = Files.createDirectory(folder.resolve("read"));
        try (InputStream zip = Files.newInputStream(target.resolveSibling(target.getFileName() + ".zip"))) {
            unpack(zip, read);
        }
        Files.writeString(target.resolveSibling(target.getFileName() + ".txt"), describe(read));
    }

    private static void firstRun(PipeStore store) {
        EventLog log = store.log();
        append(log, null, new Payload("text/plain", Map.of(), bytes(0)));
        append(log, null, new Payload("application/json", Map.of("unit", "°C", "empty", ""), bytes(1)));
        append(log, new ProducerSequence("csv", 1), new Payload("text/plain", Map.of(), bytes(5_000)));
        append(
                log,
                new ProducerSequence("csv", 2),
                new Payload("text/plain", Map.of(), bytes(10)),
                new Payload("text/plain", Map.of("k", "v"), bytes(20)),
                new Payload("text/plain", Map.of(), bytes(30)));
        append(log, new ProducerSequence("Zähler", 9), new Payload("text/plain", Map.of(), bytes(100_000)));
        store.settled().raiseDeliveredUpTo(6);
        for (long id : new long[] {1, 2, 4}) {
            store.settled().settle(id);
        }
        store.attempts().record(3, 2, 5_000, "negative ack");
        store.attempts().record(5, 1, 6_000, "ack timeout");
    }

    private static void secondRun(PipeStore store) {
        append(store.log(), new ProducerSequence("csv", 3), new Payload("text/plain", Map.of(), bytes(64)));
        for (int i = 0; i < 5; i++) {
            append(store.log(), null, new Payload("text/plain", Map.of(), bytes(32 + i)));
        }
        append(
                store.deadLetterLog(),
                null,
                new Payload("text/plain", Map.of("relay-event-id", "4", "relay-reason", "given up"), bytes(10)));
    }

    private static void append(EventLog log, @Nullable ProducerSequence sequence, Payload... payloads) {
        EventGroup group = new EventGroup(List.of(payloads), sequence, 1_700_000_000_123L);
        if (!log.hasRoomFor(group)) {
            log.makeRoomFor(group);
        }
        log.append(group);
    }

    private static ByteBuffer bytes(int size) {
        ByteBuffer bytes = ByteBuffer.allocate(size);
        while (bytes.hasRemaining()) {
            bytes.put((byte) (bytes.position() * 31));
        }
        return bytes.flip();
    }

    private static String describe(Path path) {
        StringBuilder text = new StringBuilder();
        for (PipeName name : List.of(PLANT, DISK)) {
            new TestData(path).open(name.value(), store -> describe(name, store, text));
        }
        return text.toString();
    }

    private static void describe(PipeName name, PipeStore store, StringBuilder text) {
        text.append("pipe ").append(name).append(" epoch ").append(store.epoch());
        text.append(" settings ")
                .append(new TreeMap<>(store.settings().values()))
                .append('\n');
        store.log().force();
        describe("event", store.log(), text);
        describe("dead letter", store.deadLetterLog(), text);
        text.append("settled ")
                .append(LongStream.rangeClosed(1, MOST_IDS)
                        .filter(store.settled()::isSettled)
                        .boxed()
                        .toList())
                .append(" delivered up to ")
                .append(store.settled().deliveredUpTo())
                .append('\n');
        store.attempts().forEach(attempt -> text.append(attempt).append('\n'));
        for (String producer : List.of("csv", "Zähler", "forced")) {
            text.append("producer ").append(producer).append(' ');
            text.append(store.log().lastSequence(producer)).append('\n');
        }
    }

    private static void describe(String what, EventLog log, StringBuilder text) {
        try (EventTailer tailer = log.openTailer()) {
            for (EventTailer.Step step = tailer.nextOpened();
                    step != EventTailer.Step.END;
                    step = tailer.nextOpened()) {
                CRC32C crc = new CRC32C();
                int size = tailer.payload().remaining();
                crc.update(tailer.payload());
                text.append("%s %s %d at %d, %s %s, %d bytes %08x%n"
                        .formatted(
                                what,
                                step,
                                tailer.id(),
                                tailer.appendedAtMillis(),
                                tailer.contentType(),
                                new TreeMap<>(tailer.headers()),
                                size,
                                crc.getValue()));
            }
        }
    }

    private static void pack(Path source, Path zip) throws IOException {
        try (OutputStream file = Files.newOutputStream(zip);
                ZipOutputStream out = new ZipOutputStream(file);
                Stream<Path> all = Files.walk(source)) {
            out.setLevel(9);
            for (Path path : all.filter(Files::isRegularFile).sorted().toList()) {
                ZipEntry entry = new ZipEntry(source.relativize(path).toString());
                entry.setTime(0);
                out.putNextEntry(entry);
                Files.copy(path, out);
                out.closeEntry();
            }
        }
    }

    private static void unpack(String resource, Path target) throws IOException {
        try (InputStream zip = open(resource)) {
            unpack(zip, target);
        }
    }

    /** Blocks of zeros become holes, as they were. */
    private static void unpack(InputStream zip, Path target) throws IOException {
        ZipInputStream in = new ZipInputStream(zip);
        for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
            Path file = target.resolve(entry.getName());
            Files.createDirectories(Objects.requireNonNull(file.getParent()));
            try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
                byte[] zeros = new byte[BLOCK_BYTES];
                long position = 0;
                for (byte[] block = in.readNBytes(BLOCK_BYTES); block.length > 0; block = in.readNBytes(BLOCK_BYTES)) {
                    if (block.length < BLOCK_BYTES || !Arrays.equals(block, zeros)) {
                        out.seek(position);
                        out.write(block);
                    }
                    position += block.length;
                }
                out.setLength(position);
            }
        }
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = open(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static InputStream open(String name) {
        return Objects.requireNonNull(GoldenFilesTest.class.getResourceAsStream("/golden/" + name), name);
    }
}
