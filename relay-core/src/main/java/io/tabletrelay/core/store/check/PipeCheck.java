package io.tabletrelay.core.store.check;

import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.acks.AttemptFile;
import io.tabletrelay.core.store.acks.SettledIds;
import io.tabletrelay.core.store.folder.PipeFolder;
import io.tabletrelay.core.store.folder.StillDirectory;
import io.tabletrelay.core.store.folder.SubscriptionRecord;
import io.tabletrelay.core.store.log.LogCheck;
import io.tabletrelay.core.store.log.LogOrigin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads one pipe's files, and changes nothing.
 *
 * <p>Threading: confined to the thread that uses it.
 */
final class PipeCheck {
    private static final int MOST_DAMAGES = 1000;
    private static final String SUBSCRIPTION = "default";

    private final Path root;
    private final StillDirectory.Pipe pipe;
    private final StoreConfig config;
    private final LongConsumer progress;
    private final List<Damage> damages = new ArrayList<>();
    private final List<String> leftovers = new ArrayList<>();
    private long damageCount;
    private long unsettledEvents;

    PipeCheck(Path root, StillDirectory.Pipe pipe, StoreConfig config, LongConsumer progress) {
        this.root = root;
        this.pipe = pipe;
        this.config = config;
        this.progress = progress;
    }

    PipeReport run() throws IOException {
        findLeftovers();
        if (!pipe.problem().isEmpty()) {
            damaged(pipe.path().resolve("pipe.json"), pipe.problem());
        }
        String birth = pipe.problemOfBirth();
        if (!birth.isEmpty()) {
            damaged(pipe.path().resolve("pipe.born"), birth + ": nothing could be read without pipe.json");
        }
        if (pipe.record() == null) {
            return new PipeReport(
                    pipe.name(), null, null, null, 0, 0, List.copyOf(damages), damageCount, List.copyOf(leftovers));
        }
        PipeFolder folder = pipe.folder();
        SettledIds settled = settled(folder.settledFile(SUBSCRIPTION));
        int attempts = attempts(folder.attemptsFile(SUBSCRIPTION)) + otherSubscriptions(folder);
        LogCheck.Result events = events(folder, settled);
        LogCheck.Result deadLetters = deadLetters(folder);
        Path settledFile = folder.settledFile(SUBSCRIPTION);
        if (events != null && events.segments() > 0 && !Files.exists(settledFile)) {
            damaged(settledFile, "it is gone: all events will come again");
        }
        if (events != null && pipe.problem().isEmpty() && events.lastId() > folder.idMark()) {
            damaged(
                    folder.path().resolve("pipe.json"),
                    "it is older than the log: idMark=" + folder.idMark() + ", last=" + events.lastId());
        }
        return new PipeReport(
                pipe.name(),
                events,
                deadLetters,
                settled == null
                        ? null
                        : new PipeReport.Settled(settled.floor(), settled.settledAboveFloor(), settled.deliveredUpTo()),
                unsettledEvents,
                attempts,
                List.copyOf(damages),
                damageCount,
                List.copyOf(leftovers));
    }

    private LogCheck.@Nullable Result events(PipeFolder folder, @Nullable SettledIds settled) throws IOException {
        long shownUpTo = settled == null ? 0 : Math.max(settled.appendedUpTo(), settled.deliveredUpTo());
        LogOrigin origin = new LogOrigin(
                folder.epoch(),
                folder.salt(),
                folder.firstFreeId(),
                shownUpTo,
                !pipe.isOfThisBoot(),
                settled == null ? LogOrigin.NOT_KNOWN : settled.settledBelow());
        boolean markIsKnown = pipe.problem().isEmpty();
        return check(folder.eventsFolder(), origin, markIsKnown ? folder.idMark() : 0, id -> {
            unsettledEvents += settled == null || !settled.isSettled(id) ? 1 : 0;
        });
    }

    private LogCheck.@Nullable Result deadLetters(PipeFolder folder) throws IOException {
        Path handled = folder.handledLettersFile();
        SettledIds ring = Files.exists(handled) ? SettledIds.look(handled) : null;
        if (Files.exists(handled) && (ring == null || ring.damagedWords() > 0)) {
            damaged(handled, "it is damaged: dead letters that were redriven or purged will be shown again");
        }
        LogOrigin origin = new LogOrigin(folder.epoch(), folder.salt(), 1, 0, false, LogOrigin.NOT_KNOWN);
        return check(folder.deadLettersFolder(), origin, 0, id -> {});
    }

    private LogCheck.@Nullable Result check(Path log, LogOrigin origin, long idMark, LongConsumer onEvent)
            throws IOException {
        try {
            return new LogCheck(log, pipe.name(), origin, idMark, config, new Finder(onEvent)).run();
        } catch (RelayException e) {
            damaged(log, e.reason());
            return null;
        }
    }

    private @Nullable SettledIds settled(Path file) throws IOException {
        if (!Files.exists(file)) {
            return null;
        }
        SettledIds settled = SettledIds.look(file);
        if (settled == null) {
            damaged(file, "its size or its header is damaged: settled events will come again");
        } else if (settled.damagedWords() > 0) {
            damaged(file, "damaged words=" + settled.damagedWords() + ": up to 32 settled events each will come again");
        }
        return settled;
    }

    /** Returns how many failing events they remember. */
    private int otherSubscriptions(PipeFolder folder) throws IOException {
        for (Path record : folder.subscriptionFiles(PipeFolder.Kind.RECORD)) {
            String problem = SubscriptionRecord.problemOf(record);
            if (!problem.isEmpty()) {
                damaged(record, "it cannot be used, and is made anew from what its ring says: " + problem);
            }
            Path ring = PipeFolder.Kind.RING.beside(record, PipeFolder.Kind.RECORD);
            if (SubscriptionRecord.isLive(record)
                    && !Files.exists(ring)
                    && !ring.equals(folder.settledFile(SUBSCRIPTION))) {
                damaged(ring, "it is gone: all events of its subscription will come again");
            }
        }
        for (Path ring : folder.subscriptionFiles(PipeFolder.Kind.RING)) {
            if (!ring.equals(folder.settledFile(SUBSCRIPTION))) {
                settled(ring);
            }
        }
        int attempts = 0;
        for (Path file : folder.subscriptionFiles(PipeFolder.Kind.ATTEMPTS)) {
            attempts += file.equals(folder.attemptsFile(SUBSCRIPTION)) ? 0 : attempts(file);
        }
        return attempts;
    }

    private int attempts(Path file) throws IOException {
        if (!Files.exists(file)) {
            return 0;
        }
        AttemptFile attempts = AttemptFile.read(file);
        if (attempts.isDamaged()) {
            damaged(file, "records are damaged: failing events whose attempts are lost are counted anew");
        }
        return attempts.attempts().size();
    }

    /** What was set aside before, and what a crash left. */
    private void findLeftovers() throws IOException {
        try (Stream<Path> all = Files.walk(pipe.path(), 3)) {
            for (Path path :
                    all.filter(each -> !each.equals(pipe.path())).sorted().toList()) {
                String name = String.valueOf(path.getFileName());
                if (name.matches(".*\\.(damaged-\\d+|foreign(-\\d+)?)")) {
                    leftovers.add(relative(path) + ": set aside by a relay");
                } else if (name.endsWith(".tmp")) {
                    leftovers.add(relative(path) + ": left by a crash");
                }
            }
        }
    }

    private void damaged(Path file, String what) {
        add(new Damage(relative(file), null, null, what));
    }

    private void add(Damage damage) {
        damageCount++;
        if (damages.size() < MOST_DAMAGES) {
            damages.add(damage);
        }
    }

    private String relative(Path path) {
        return root.relativize(path).toString();
    }

    /** What is found in a log. */
    private final class Finder implements LogCheck.Visitor {
        private final LongConsumer onEvent;

        Finder(LongConsumer onEvent) {
            this.onEvent = onEvent;
        }

        @Override
        public void event(long id) {
            onEvent.accept(id);
        }

        @Override
        public void lost(Path segment, IdRange ids) {
            add(new Damage(relative(segment), ids.first(), ids.last(), "events cannot be read"));
        }

        @Override
        public void damaged(Path segment, String what) {
            PipeCheck.this.damaged(segment, what);
        }

        @Override
        public void leftover(Path path, String what) {
            leftovers.add(relative(path) + ": " + what);
        }

        @Override
        public void read(long bytes) {
            progress.accept(bytes);
        }
    }
}
