package io.tabletrelay.core.store.folder;

import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.acks.AttemptJournal;
import io.tabletrelay.core.store.acks.SettledIds;
import io.tabletrelay.core.store.folder.SubscriptionRecord.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds a pipe's subscriptions at its open, and finishes what a killed run had begun: half-born ones and the rest of deleted ones go,
 * one that was being reset is. Damage of one concerns that one alone, and is logged.
 *
 * <p>Threading: confined to the I/O task that opens the pipe.
 */
final class FoundSubscriptions {
    private static final Logger logger = LoggerFactory.getLogger(FoundSubscriptions.class);
    private static final String RECORD = SubscriptionRecord.FILE_SUFFIX;
    private static final String RING = ".settled";
    private static final String ATTEMPTS = ".attempts";

    private final PipeFolder folder;
    private final long maxSpreadIds;
    private final List<SubscriptionFiles> existing = new ArrayList<>();
    private final boolean ownWasThere;
    private final SubscriptionFiles own;
    private final boolean ownHasRecord;

    /** Nothing has the files open. */
    FoundSubscriptions(PipeFolder folder, long maxSpreadIds) throws IOException {
        this.folder = folder;
        this.maxSpreadIds = maxSpreadIds;
        Files.createDirectories(folder.subscriptionsFolder());
        Set<String> stems = stems();
        this.ownWasThere = Files.exists(folder.settledFile(StoredSubscriptions.DEFAULT));
        SubscriptionRecord record = record(StoredSubscriptions.DEFAULT);
        this.own = openOwn(record);
        this.ownHasRecord = Files.exists(folder.subscriptionFile(StoredSubscriptions.DEFAULT));
        boolean used = own.settled().deliveredUpTo() > 0 || own.settled().floor() > 0;
        if (record == null ? used : record.state() != State.GONE) {
            existing.add(own);
        }
        stems.remove(DiskName.of(StoredSubscriptions.DEFAULT));
        for (String stem : stems) {
            SubscriptionFiles found = open(stem);
            if (found != null) {
                existing.add(found);
            }
        }
    }

    List<SubscriptionFiles> existing() {
        return existing;
    }

    SubscriptionFiles own() {
        return own;
    }

    boolean ownHasRecord() {
        return ownHasRecord;
    }

    /** False: the pipe is new, or has lost the file. */
    boolean ownWasThere() {
        return ownWasThere;
    }

    /** What the names of the files begin with; what was never finished is deleted. */
    private Set<String> stems() throws IOException {
        TreeSet<String> stems = new TreeSet<>();
        try (Stream<Path> files = Files.list(folder.subscriptionsFolder())) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = String.valueOf(file.getFileName());
                if (name.endsWith(".tmp") && Files.isRegularFile(file)) {
                    Files.delete(file);
                }
                for (String suffix : List.of(RECORD, RING, ATTEMPTS)) {
                    if (name.endsWith(suffix)) {
                        stems.add(name.substring(0, name.length() - suffix.length()));
                    }
                }
            }
        }
        return stems;
    }

    private SubscriptionFiles openOwn(@Nullable SubscriptionRecord record) throws IOException {
        String name = StoredSubscriptions.DEFAULT;
        if (record == null) {
            return files(new SubscriptionRecord(name, 0, 1, 0, State.LIVE));
        }
        if (record.state() == State.GONE) {
            Files.deleteIfExists(folder.attemptsFile(name));
            SettledIds ring = open(record);
            boolean unused = ring.deliveredUpTo() < ring.settledBelow() && ring.settledAboveFloor() == 0;
            if (!unused) { // killed before its ring was begun anew
                ring = anew(record, ring.appendedUpTo());
            }
            return files(record, ring);
        }
        return live(record);
    }

    private @Nullable SubscriptionFiles open(String stem) throws IOException {
        SubscriptionRecord record = recordOf(stem);
        if (record == null) {
            return null;
        }
        if (record.state() == State.GONE) {
            StoredSubscriptions.clear(folder, record.name());
            return null;
        }
        return live(record);
    }

    private SubscriptionFiles live(SubscriptionRecord record) throws IOException {
        if (record.state() == State.RESET) {
            SettledIds before = Files.exists(folder.settledFile(record.name())) ? open(record) : null;
            return StoredSubscriptions.finishReset(
                    folder, record, before == null ? 0 : before.appendedUpTo(), this::anew);
        }
        boolean isThere = Files.exists(folder.settledFile(record.name()));
        if (!isThere && !record.name().equals(StoredSubscriptions.DEFAULT)) {
            logger.warn(
                    "settled ids are gone, everything will be delivered again: pipe={}, subscription={}, from id={}",
                    folder.name(),
                    record.name(),
                    record.start());
        }
        return files(record);
    }

    private SubscriptionFiles files(SubscriptionRecord record) {
        return files(record, open(record));
    }

    private SubscriptionFiles files(SubscriptionRecord record, SettledIds settled) {
        AttemptJournal attempts = AttemptJournal.open(folder.attemptsFile(record.name()));
        sayDamaged(record.name(), settled, attempts);
        return SubscriptionFiles.of(record, settled, attempts);
    }

    private SettledIds open(SubscriptionRecord record) {
        return SettledIds.open(folder.settledFile(record.name()), record.start(), folder.idMark(), maxSpreadIds);
    }

    private SettledIds anew(SubscriptionRecord record, long appendedUpTo) throws IOException {
        return SettledIds.anew(folder.settledFile(record.name()), record.start(), appendedUpTo, maxSpreadIds);
    }

    private @Nullable SubscriptionRecord record(String name) throws IOException {
        Path file = folder.subscriptionFile(name);
        if (!Files.exists(file)) {
            return null;
        }
        try {
            SubscriptionRecord record = SubscriptionRecord.read(file);
            if (!record.name().equals(name)) {
                throw new IOException("it is of another subscription, '" + record.name() + "'");
            }
            return record;
        } catch (IOException e) {
            Path aside = SmallFile.setAside(file);
            SettledIds ring = Files.exists(folder.settledFile(name)) ? look(folder.settledFile(name)) : null;
            SubscriptionRecord again = SubscriptionRecord.made(name, ring);
            again.write(file);
            logger.error(
                    "record of a subscription was damaged, and is made anew: pipe={}, subscription={}, reason={}, set aside={}",
                    folder.name(),
                    name,
                    e.getMessage(),
                    aside);
            return again;
        }
    }

    /** Null: that one is half-born, and is cleared away, or nobody can tell its name. */
    private @Nullable SubscriptionRecord recordOf(String stem) throws IOException {
        Path file = folder.subscriptionsFolder().resolve(stem + RECORD);
        String name = DiskName.decode(stem);
        if (Files.exists(file)) {
            String known = name != null ? name : nameIn(file, stem);
            if (known != null) {
                return record(known);
            }
            setAside(stem, "its record is damaged, and its name is known from there alone");
            return null;
        }
        Path ringFile = folder.subscriptionsFolder().resolve(stem + RING);
        SettledIds ring = Files.exists(ringFile) ? look(ringFile) : null;
        if (ring == null ? !Files.exists(ringFile) : ring.deliveredUpTo() < ring.settledBelow()) {
            Files.deleteIfExists(ringFile);
            Files.deleteIfExists(folder.subscriptionsFolder().resolve(stem + ATTEMPTS));
            return null;
        }
        if (name == null || ring == null) {
            setAside(stem, "its record is gone");
            return null;
        }
        SubscriptionRecord again = SubscriptionRecord.made(name, ring);
        again.write(file);
        logger.error(
                "record of a subscription was gone, and is made anew: pipe={}, subscription={}", folder.name(), name);
        return again;
    }

    /** The name that a long one's record says, damaged or not: the file's name proves it. */
    private static @Nullable String nameIn(Path file, String stem) {
        try {
            String name = SubscriptionRecord.read(file).name();
            return DiskName.of(name).equals(stem) ? name : null;
        } catch (IOException e) {
            return null;
        }
    }

    private void setAside(String stem, String why) throws IOException {
        List<Path> aside = new ArrayList<>();
        for (String suffix : List.of(RECORD, RING, ATTEMPTS)) {
            Path file = folder.subscriptionsFolder().resolve(stem + suffix);
            if (Files.exists(file)) {
                aside.add(SmallFile.setAside(file));
            }
        }
        logger.error("subscription is lost: pipe={}, reason={}, set aside={}", folder.name(), why, aside);
    }

    private static @Nullable SettledIds look(Path file) throws IOException {
        return SettledIds.look(file);
    }

    private void sayDamaged(String name, SettledIds settled, AttemptJournal attempts) {
        IdRange unsettled = settled.damagedIds();
        if (settled.damagedFile() != null) {
            logger.error(
                    "settled ids were damaged, what was settled will be delivered again: pipe={}, subscription={}, set aside={}",
                    folder.name(),
                    name,
                    settled.damagedFile());
        } else if (unsettled != null) {
            logger.error(
                    "settled ids are damaged, some that were settled will be delivered again: pipe={}, file={}, ids={} to {}",
                    folder.name(),
                    folder.settledFile(name),
                    unsettled.first(),
                    unsettled.last());
        }
        if (attempts.damagedFile() != null) {
            logger.error(
                    "attempts were damaged, failing events whose attempts are lost are counted anew: pipe={}, subscription={}, set aside={}",
                    folder.name(),
                    name,
                    attempts.damagedFile());
        }
    }
}
