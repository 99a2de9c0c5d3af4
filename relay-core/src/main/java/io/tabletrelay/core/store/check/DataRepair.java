package io.tabletrelay.core.store.check;

import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.folder.StillDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Makes a repaired copy of a data directory; the directory itself is never changed. What is sound is copied, what is damaged is
 * written anew from what can be read, and what no relay needs (files set aside, folders of deleted pipes) stays behind.
 *
 * <p>Threading: confined to the thread that uses it.
 */
public final class DataRepair {
    private final StillDirectory source;
    private final DataReport report;
    private final StoreConfig config;
    private final Path target;
    private final boolean dryRun;
    private final InstantSource clock;
    private final List<String> done = new ArrayList<>();

    /**
     * A repair of what was reported.
     *
     * @param config the sizes that the relay has
     * @param target must not be there, or be empty
     * @param dryRun says what would be done, and does nothing
     */
    public DataRepair(
            StillDirectory source,
            DataReport report,
            StoreConfig config,
            Path target,
            boolean dryRun,
            InstantSource clock) {
        this.source = source;
        this.report = report;
        this.config = config;
        this.target = target;
        this.dryRun = dryRun;
        this.clock = clock;
    }

    /** Where that is, or will be, however links lead to it. */
    private static Path real(Path path) throws IOException {
        Path whole = path.toAbsolutePath().normalize();
        Path existing = whole;
        while (!Files.exists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        return existing.toRealPath().resolve(existing.relativize(whole));
    }

    /** Returns what was done besides copying: one line for each loss, and each file that was written anew. */
    public List<String> run() throws IOException {
        if (!isEmpty(target) || real(target).startsWith(source.root().toRealPath())) {
            throw new IllegalArgumentException(
                    "a copy cannot be written there: repair=" + target + "; name a folder that is not there, or empty");
        }
        if (!dryRun) {
            for (String name : List.of("pipes", "tombstones", "deleted")) {
                Files.createDirectories(target.resolve(name));
            }
            Files.createFile(target.resolve("relay.lock")); // without one the copy could not be checked
        }
        List<StillDirectory.Pipe> pipes = source.pipes();
        for (PipeReport each : report.pipes()) {
            StillDirectory.Pipe pipe = pipes.stream()
                    .filter(candidate -> candidate.name().equals(each.name()))
                    .findFirst()
                    .orElseThrow();
            repair(pipe, each);
        }
        for (String tombstone : report.tombstones()) {
            copyTombstone(tombstone);
        }
        return List.copyOf(done);
    }

    private void repair(StillDirectory.Pipe pipe, PipeReport found) throws IOException {
        if (found.events() == null || found.deadLetters() == null || pipe.record() == null) {
            done.add("pipe=" + pipe.name() + ": left out, nothing tells its events from garbage; see its damages");
            return;
        }
        Path folder = target.resolve("pipes").resolve(String.valueOf(pipe.path().getFileName()));
        done.addAll(new PipeRepair(pipe, found, folder, dryRun, config, clock).run());
    }

    private void copyTombstone(String name) throws IOException {
        if (name.endsWith(".tmp")) {
            return;
        }
        if (report.damages().stream().anyMatch(damage -> damage.file().equals(name))) {
            done.add("file=" + name + ": left out; ids of a new pipe of that name begin at 1 again");
        } else if (!dryRun) {
            SmallFile.replace(
                    target.resolve(name), Files.readAllBytes(source.root().resolve(name)));
        }
    }

    private static boolean isEmpty(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return true;
        }
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.findAny().isEmpty();
        }
    }
}
