package io.tabletrelay.core.store.log;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.store.EventGroup;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** The process that is killed: appends groups of mixed sizes until it dies, and prints what was confirmed. */
final class KilledWriter {
    private KilledWriter() {}

    /** An id mark in a file, which outlives its process. */
    record FileMark(Path file) implements IdMark {
        @Override
        public long value() {
            try {
                return Files.exists(file)
                        ? ByteBuffer.wrap(Files.readAllBytes(file)).getLong()
                        : 0;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void raiseTo(long id) {
            try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
                open.writeLong(id);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public static void main(String[] args) {
        Path folder = Path.of(args[0]);
        int run = Integer.parseInt(args[1]);
        Random random = new Random(Long.parseLong(args[2]));
        ChronicleEventLog log = open(folder);
        for (int serial = 1; ; serial++) {
            EventGroup group = group(run, serial, random);
            if (!log.hasRoomFor(group)) {
                log.makeRoomFor(group);
            } else if (log.lowOnRoom()) {
                log.allocateAhead();
            }
            long firstId = log.append(group);
            System.out.println(serial + " " + firstId + " " + group.size());
        }
    }

    static ChronicleEventLog open(Path folder) {
        LogOrigin origin = new LogOrigin(7, 3, 1, 0, false, LogOrigin.NOT_KNOWN);
        IdMark mark = new FileMark(folder.resolve("mark"));
        LogLimits limits = new LogLimits("killed", TestLog.SMALL);
        return ChronicleEventLog.open(
                folder.resolve("events"),
                limits,
                origin,
                mark,
                InstantSource.system(),
                () -> Long.MAX_VALUE / 2,
                Forcing.DISK);
    }

    private static EventGroup group(int run, int serial, Random random) {
        int size = random.nextInt(4) == 0 ? 1 + random.nextInt(5) : 1;
        List<Payload> payloads = new ArrayList<>();
        for (int member = 1; member <= size; member++) {
            String text = "%d %d %d %d ".formatted(run, serial, member, size);
            int padding = random.nextInt(10) == 0 ? random.nextInt(120_000) : random.nextInt(300);
            byte[] bytes = (text + "x".repeat(padding)).getBytes(StandardCharsets.UTF_8);
            payloads.add(new Payload("text/plain", Map.of("run", "" + run), ByteBuffer.wrap(bytes)));
        }
        @Nullable ProducerSequence sequence = new ProducerSequence("run-" + run, serial);
        return new EventGroup(payloads, sequence, InstantSource.system().millis());
    }
}
