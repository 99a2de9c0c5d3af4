package io.tabletrelay.core.store.folder;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.acks.SettledIds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which dead letters of a pipe are done with, redriven or purged, and which are being redriven: a ring of bits as a subscription has
 * one, made for the first of them, and a small file that is there while a redrive is under way.
 *
 * <p>Threading: used by one I/O task of the pipe at a time.
 */
public final class HandledLetters {
    static final String RING_NAME = "dead-letters.settled";
    static final String REDRIVE_NAME = "dead-letters.redrive";

    private static final Logger LOG = LoggerFactory.getLogger(HandledLetters.class);
    private static final String ABOVE = "above";
    private static final String NUMBERS = "numbers";

    private final Path ringFile;
    private final Path redriveFile;
    private final long maxSpreadIds;
    private final boolean onDisk;
    private @Nullable SettledIds ring;

    /**
     * A redrive that was begun: the events made of these letters are in the log, all together, or none is.
     *
     * <p>Threading: immutable.
     *
     * @param above they have ids above this one
     * @param numbers the letters'
     */
    public record Redrive(long above, List<Long> numbers) {
        public Redrive {
            numbers = List.copyOf(numbers);
        }
    }

    private HandledLetters(Path folder, long maxSpreadIds, boolean onDisk) {
        this.ringFile = folder.resolve(RING_NAME);
        this.redriveFile = folder.resolve(REDRIVE_NAME);
        this.maxSpreadIds = maxSpreadIds;
        this.onDisk = onDisk;
    }

    /** Opens what is there; with {@code onDisk} what is handled from now on is forced to disk. */
    public static HandledLetters open(Path folder, long maxSpreadIds, boolean onDisk) {
        HandledLetters opened = new HandledLetters(folder, maxSpreadIds, onDisk);
        if (Files.exists(opened.ringFile)) {
            opened.ring();
        }
        return opened;
    }

    private SettledIds ring() {
        SettledIds there = ring;
        if (there == null) {
            there = SettledIds.open(ringFile, 1, 0, maxSpreadIds);
            if (there.damagedFile() != null) {
                LOG.warn(
                        "handled dead letters are forgotten, they are shown again: file={}, set aside as={}",
                        ringFile,
                        there.damagedFile());
            }
            if (onDisk) {
                there.keepOnDisk();
            }
            ring = there;
        }
        return there;
    }

    /** The highest number that anybody was told of here; no letter that is written later may have it. */
    long toldUpTo() {
        SettledIds there = ring;
        return there == null ? 0 : there.deliveredUpTo();
    }

    public boolean isHandled(long number) {
        SettledIds there = ring;
        return there != null && there.isSettled(number);
    }

    /** How many letters of this log are not handled. */
    public long openLetters(EventLog letters) {
        SettledIds there = ring;
        if (there == null) {
            return letters.lastId() - letters.voidIds();
        }
        passWhatIsGone(there, letters);
        long floor = there.floor();
        return letters.lastId() - floor - there.settledAboveFloor() - letters.voidIdsAbove(floor);
    }

    /** Up to this number all letters of that log are handled. */
    public long floor(EventLog letters) {
        SettledIds there = ring;
        if (there == null) {
            return 0;
        }
        passWhatIsGone(there, letters);
        return there.floor();
    }

    private static void passWhatIsGone(SettledIds ring, EventLog letters) {
        if (letters.hasDeleted()) {
            ring.skipTo(letters.firstId() - 1);
        }
        long next = ring.floor() + 1;
        for (long live = letters.skipVoid(next); live != next; live = letters.skipVoid(next)) {
            ring.skipTo(live - 1);
            next = ring.floor() + 1;
        }
    }

    /** These letters are done with, for ever; as durably as the pipe settles when this returns. */
    public void handle(Collection<Long> numbers) {
        SettledIds there = ring();
        for (long number : numbers) {
            grow(there, number);
            there.raiseDeliveredUpTo(number);
            there.settle(number);
        }
        if (there.wantsForce()) {
            SettledIds.Force force = there.startForce();
            force.run();
            force.done();
        }
    }

    private static void grow(SettledIds ring, long number) {
        while (!ring.hasRoomFor(number)) {
            SettledIds.Growth growth = ring.startGrowth();
            growth.copy();
            try {
                growth.publish();
            } catch (RuntimeException e) {
                growth.abandon();
                throw e;
            }
            growth.finish();
        }
    }

    /** Every letter below this number is handled for ever; on disk when this returns. */
    public void handledBelow(long number) {
        ring().settleBelow(number);
    }

    /** The redrive is on disk when this returns, and only then may its events be appended. */
    public void begin(Redrive redrive) {
        ObjectNode fields = CheckedJson.newObject();
        fields.put(ABOVE, redrive.above());
        fields.put(
                NUMBERS,
                String.join(",", redrive.numbers().stream().map(String::valueOf).toList()));
        try {
            SmallFile.replace(redriveFile, CheckedJson.encode(fields));
        } catch (IOException e) {
            throw SmallFile.failure("redrive cannot be begun", redriveFile, e);
        }
    }

    /** The redrive that was begun and not ended; null: there is none. */
    public @Nullable Redrive underWay() {
        try {
            Files.deleteIfExists(SmallFile.temp(redriveFile));
            if (!Files.exists(redriveFile)) {
                return null;
            }
            ObjectNode fields = CheckedJson.read(redriveFile);
            List<Long> numbers = new ArrayList<>();
            for (String number : CheckedJson.text(fields, NUMBERS).split(",", -1)) {
                numbers.add(Long.parseLong(number));
            }
            return new Redrive(CheckedJson.number(fields, ABOVE), numbers);
        } catch (IOException | NumberFormatException e) {
            throw SmallFile.failure(
                    "it cannot be told whether dead letters were redriven", redriveFile, new IOException(e));
        }
    }

    /** What was begun is done, or will not be; forgotten on disk when this returns. */
    public void end() {
        try {
            if (Files.deleteIfExists(redriveFile)) {
                SmallFile.forceDirectory(SmallFile.parent(redriveFile));
            }
        } catch (IOException e) {
            throw SmallFile.failure("redrive cannot be ended", redriveFile, e);
        }
    }

    /** Gives back the memory; nothing else may be called afterwards. */
    void close() {
        SettledIds there = ring;
        if (there != null) {
            there.close();
        }
    }
}
