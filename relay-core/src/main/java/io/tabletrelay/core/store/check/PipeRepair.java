package io.tabletrelay.core.store.check;

import io.tabletrelay.api.Durability;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.acks.AttemptFile;
import io.tabletrelay.core.store.acks.SettledIds;
import io.tabletrelay.core.store.folder.PipeFolder;
import io.tabletrelay.core.store.folder.PipeRecord;
import io.tabletrelay.core.store.folder.StillDirectory;
import io.tabletrelay.core.store.folder.SubscriptionRecord;
import io.tabletrelay.core.store.log.LogCheck;
import io.tabletrelay.core.store.log.LogOrigin;
import io.tabletrelay.core.store.log.LogRepair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Makes a repaired copy of one pipe.
 *
 * <p>Threading: confined to the thread that uses it.
 */
final class PipeRepair {
    private static final String SUBSCRIPTION = "default";

    /** Where the id mark is lost: more ids than a log can have given above the last one that is known, and few enough. */
    private static final long IDS_LEFT_OUT = 1 << 20;

    private final StillDirectory.Pipe pipe;
    private final PipeReport found;
    private final Path target;
    private final boolean dryRun;
    private final StoreConfig config;
    private final InstantSource clock;
    private final PipeRecord record;
    private final PipeFolder from;
    private final List<String> done = new ArrayList<>();

    PipeRepair(
            StillDirectory.Pipe pipe,
            PipeReport found,
            Path target,
            boolean dryRun,
            StoreConfig relay,
            InstantSource clock) {
        this.pipe = pipe;
        this.found = found;
        this.target = target;
        this.dryRun = dryRun;
        this.clock = clock;
        this.record = Objects.requireNonNull(pipe.record());
        this.from = pipe.folder();
        StoreConfig own = record.settings().over(relay);
        this.config = new StoreConfig(
                own.segmentBytes(),
                own.maxEventBytes(),
                0,
                0,
                0,
                Durability.DISK, // a copy that was written is on disk, whatever its pipe confirms at
                own.commit(),
                own.whenFull(),
                own.onDamage(),
                own.retention());
    }

    List<String> run() throws IOException {
        found.damages().stream()
                .filter(damage -> damage.firstId() != null)
                .forEach(damage -> done.add("pipe=" + pipe.name() + ", file=" + damage.file() + ": lost, ids="
                        + damage.firstId() + " to " + damage.lastId() + ", void from now on"));
        if (!dryRun) {
            Files.createDirectories(target);
        }
        repairPipeFile();
        if (Files.exists(from.settledFile(SUBSCRIPTION))
                || Objects.requireNonNull(found.events()).segments() > 0) {
            repairSettled(from.settledFile(SUBSCRIPTION));
        }
        repairSubscriptions();
        LogOrigin events =
                new LogOrigin(from.epoch(), from.salt(), from.firstFreeId(), shownUpTo(), false, LogOrigin.NOT_KNOWN);
        repairLog(from.eventsFolder(), events, idMark(), Objects.requireNonNull(found.events()));
        LogOrigin deadLetters = new LogOrigin(from.epoch(), from.salt(), 1, 0, false, LogOrigin.NOT_KNOWN);
        repairLog(from.deadLettersFolder(), deadLetters, 0, Objects.requireNonNull(found.deadLetters()));
        repairHandledLetters();
        return done;
    }

    /** What a redrive was about to append is copied as it is: the next open of the pipe ends it. */
    private void repairHandledLetters() throws IOException {
        Path handled = from.handledLettersFile();
        SettledIds ring = Files.exists(handled) ? SettledIds.look(handled) : null;
        if (ring != null) {
            write(handled, ring.withoutDamage());
        }
        if (Files.exists(handled) && (ring == null || ring.damagedWords() > 0)) {
            say(handled, "dead letters that were redriven or purged are shown again");
        }
        if (Files.exists(from.redriveFile())) {
            write(from.redriveFile(), Files.readAllBytes(from.redriveFile()));
        }
    }

    private void repairPipeFile() throws IOException {
        long known = Math.max(Objects.requireNonNull(found.events()).lastId(), shownUpTo());
        PipeRecord repaired = record;
        if (!pipe.problem().isEmpty()) {
            repaired = record.above(Math.max(known, record.idMark()) + IDS_LEFT_OUT);
            say(
                    pipe.path().resolve("pipe.json"),
                    "made from what the pipe was born as; ids go on at " + repaired.firstFreeId());
        } else if (known > record.idMark()) {
            repaired = record.withIdMark(known);
            say(pipe.path().resolve("pipe.json"), "id mark raised to " + known);
        }
        if (!dryRun) {
            repaired.write(target.resolve("pipe.born"));
            repaired.write(target.resolve("pipe.json"));
        }
    }

    private void repairSubscriptions() throws IOException {
        for (Path record : from.subscriptionFiles(PipeFolder.Kind.RECORD)) {
            Path ring = PipeFolder.Kind.RING.beside(record, PipeFolder.Kind.RECORD);
            SubscriptionRecord repaired =
                    SubscriptionRecord.readOrMade(record, Files.exists(ring) ? SettledIds.look(ring) : null);
            if (repaired == null) {
                say(record, "left out, nothing tells its name: its subscription is lost");
                continue;
            }
            if (!SubscriptionRecord.problemOf(record).isEmpty()) {
                say(record, "made from what its ring says; start=" + repaired.start());
            }
            if (!dryRun) {
                Path to = target.resolve(pipe.path().relativize(record));
                Files.createDirectories(SmallFile.parent(to));
                repaired.write(to);
            }
        }
        for (Path ring : from.subscriptionFiles(PipeFolder.Kind.RING)) {
            if (!ring.equals(from.settledFile(SUBSCRIPTION))) {
                repairSettled(ring);
            }
        }
        for (Path attempts : from.subscriptionFiles(PipeFolder.Kind.ATTEMPTS)) {
            repairAttempts(attempts);
        }
    }

    /** Where the subscription began, as far as its record tells it. */
    private static long start(Path ring) {
        Path file = PipeFolder.Kind.RECORD.beside(ring, PipeFolder.Kind.RING);
        SubscriptionRecord known = Files.exists(file) ? SubscriptionRecord.readOrMade(file, null) : null;
        return known == null ? 1 : known.start();
    }

    private void repairSettled(Path file) throws IOException {
        SettledIds settled = Files.exists(file) ? SettledIds.look(file) : null;
        if (settled == null) {
            say(file, "begun anew; settled events come again");
            if (!dryRun) {
                SettledIds.open(
                        target.resolve(pipe.path().relativize(file)),
                        start(file),
                        0,
                        SettledIds.DEFAULT_MAX_SPREAD_IDS);
            }
            return;
        }
        if (settled.damagedWords() > 0) {
            say(file, "damaged words emptied, words=" + settled.damagedWords());
        }
        write(file, settled.withoutDamage());
    }

    private void repairAttempts(Path file) throws IOException {
        if (!Files.exists(file)) {
            return;
        }
        AttemptFile attempts = AttemptFile.read(file);
        if (attempts.isDamaged()) {
            say(file, "written anew, attempts=" + attempts.attempts().size());
        }
        write(file, attempts.rewritten());
    }

    private void repairLog(Path log, LogOrigin origin, long mark, LogCheck.Result result) throws IOException {
        if (!Files.isDirectory(log)) {
            return;
        }
        if (!result.isSound()) {
            say(log, "written anew, events=" + result.events() + ", lost=" + result.lostIds());
        }
        if (dryRun) {
            return;
        }
        Path to = target.resolve(pipe.path().relativize(log));
        if (result.isSound()) {
            copy(log, to);
        } else {
            Files.createDirectories(to);
            new LogRepair(log, to, pipe.name(), origin, mark, config, clock).run();
        }
    }

    private static void copy(Path log, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(log, 2)) {
            for (Path file : (Iterable<Path>) all.filter(LogRepair::belongsToLog)::iterator) {
                Path copy = to.resolve(log.relativize(file));
                Files.createDirectories(SmallFile.parent(copy));
                SparseCopy.copy(file, copy);
            }
        }
    }

    private void write(Path file, byte[] content) throws IOException {
        if (!dryRun) {
            Path to = target.resolve(pipe.path().relativize(file));
            Files.createDirectories(SmallFile.parent(to));
            SmallFile.replace(to, content);
        }
    }

    private long idMark() {
        return pipe.problem().isEmpty() ? record.idMark() : 0;
    }

    private long shownUpTo() {
        long delivered = found.settled() == null ? 0 : found.settled().deliveredUpTo();
        return found.events() == null
                ? delivered
                : Math.max(delivered, found.events().lastId());
    }

    private void say(Path file, String what) {
        done.add("pipe=" + pipe.name() + ", file=" + pipe.path().relativize(file) + ": " + what);
    }
}
