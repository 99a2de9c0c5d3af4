package io.tabletrelay.core.store.acks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.core.store.ChildJvm;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process is killed while it settles, delivers and grows; it notes each step before and after in a file of its own. */
class SettledIdsKillTest {
    private static final int KILLS = 20;
    private static final int NOTE_BYTES = 9;
    private static final byte DELIVERING = 1;
    private static final byte DELIVERED = 2;
    private static final byte SETTLING = 3;
    private static final byte SETTLED = 4;

    @TempDir
    private Path folder;

    private final BitSet settling = new BitSet();
    private final BitSet settled = new BitSet();
    private long delivering;
    private long delivered;
    private long notesRead;

    @Test
    void noReturnedAckIsLostAndNoneAppearsOverKills() throws Exception {
        Path file = folder.resolve("killed.settled");
        Path notes = Files.createFile(folder.resolve("notes"));
        Random random = new Random(42);
        for (int kill = 0; kill < KILLS; kill++) {
            long enough = Files.size(notes) + NOTE_BYTES * (1L + random.nextInt(40_000));

            try (ChildJvm child = ChildJvm.start(Settling.class, file.toString(), notes.toString(), "" + kill)) {
                await("the child has settled for a while")
                        .atMost(Duration.ofSeconds(60))
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> Files.size(notes) >= enough || !child.isAlive());
                assertThat(child.isAlive()).isTrue();
                child.kill();
            }

            readNotes(notes);
            compare(SettledIds.open(file, 1, 0, Settling.MAX_SPREAD_IDS), kill);
        }
        assertThat(settled.cardinality()).isGreaterThan(10_000);
        assertThat(Files.size(file)).isGreaterThan(4096);
    }

    private void compare(SettledIds ids, int kill) {
        assertThat(ids.damagedFile()).isNull();
        assertThat(ids.deliveredUpTo()).as("kill=%d", kill).isBetween(delivered, delivering);
        for (int id = 1; id <= delivering + 100; id++) {
            if (settled.get(id) && !ids.isSettled(id)) {
                throw new AssertionError("lost ack: kill=" + kill + ", id=" + id + ", floor=" + ids.floor());
            }
            if (ids.isSettled(id) && !settling.get(id)) {
                throw new AssertionError("phantom ack: kill=" + kill + ", id=" + id + ", floor=" + ids.floor());
            }
        }
    }

    private void readNotes(Path notes) throws IOException {
        long end = Files.size(notes) / NOTE_BYTES;
        try (InputStream raw = Files.newInputStream(notes);
                DataInputStream in = new DataInputStream(new BufferedInputStream(raw))) {
            in.skipNBytes(notesRead * NOTE_BYTES);
            for (; notesRead < end; notesRead++) {
                byte kind = in.readByte();
                long id = in.readLong();
                switch (kind) {
                    case DELIVERING -> delivering = Math.max(delivering, id);
                    case DELIVERED -> delivered = Math.max(delivered, id);
                    case SETTLING -> settling.set((int) id);
                    case SETTLED -> settled.set((int) id);
                    default -> throw new AssertionError("kind=" + kind);
                }
            }
        }
    }

    /** The process that is killed. */
    static final class Settling {
        static final long MAX_SPREAD_IDS = 1 << 18;

        private final SettledIds ids;
        private final OutputStream notes;
        private final Random random;
        private SettledIds.@Nullable Growth growth;
        private int growthStep;

        private Settling(SettledIds ids, OutputStream notes, Random random) {
            this.ids = ids;
            this.notes = notes;
            this.random = random;
        }

        public static void main(String[] args) throws IOException {
            Path file = Path.of(args[0]);
            try (OutputStream notes = new FileOutputStream(args[1], true)) {
                SettledIds ids = SettledIds.open(file, 1, 0, MAX_SPREAD_IDS);
                Settling settling = new Settling(ids, notes, new Random(Long.parseLong(args[2])));
                while (true) {
                    settling.step();
                }
            }
        }

        private void step() throws IOException {
            long next = ids.deliveredUpTo() + 1;
            if (ids.hasRoomFor(next)) {
                note(DELIVERING, next);
                ids.raiseDeliveredUpTo(next);
                note(DELIVERED, next);
            }
            long lowest = ids.floor() + 1;
            boolean lagging = random.nextInt(3) > 0;
            settle(lagging ? lowest + random.nextInt((int) (next - lowest + 1)) : lowest);
            if (!ids.hasRoomFor(next + 4000) && random.nextInt(100) == 0) {
                grow();
            }
        }

        private void settle(long id) throws IOException {
            if (id <= ids.deliveredUpTo()) {
                note(SETTLING, id);
                ids.settle(id);
                note(SETTLED, id);
            }
        }

        private void grow() {
            if (growth == null) {
                growth = ids.canGrow() ? ids.startGrowth() : null;
                growthStep = 0;
                return;
            }
            switch (growthStep++) {
                case 0 -> growth.copy();
                case 1 -> growth.publish();
                default -> {
                    growth.finish();
                    growth = null;
                }
            }
        }

        private void note(byte kind, long id) throws IOException {
            notes.write(ByteBuffer.allocate(NOTE_BYTES).put(kind).putLong(id).array());
        }
    }
}
