package io.tabletrelay.core.store.check;

import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.folder.StillDirectory;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a data directory that no relay uses, and changes nothing in it.
 *
 * <p>Threading: confined to the thread that uses it.
 */
public final class DataCheck {
    private final StillDirectory directory;
    private final StoreConfig config;
    private final @Nullable String onlyPipe;

    /**
     * A check of all pipes, or of one.
     *
     * @param config the sizes that the relay has
     */
    public DataCheck(StillDirectory directory, StoreConfig config, @Nullable String onlyPipe) {
        this.directory = directory;
        this.config = config;
        this.onlyPipe = onlyPipe;
    }

    /** The pipes that are checked. */
    public List<StillDirectory.Pipe> pipes() throws IOException {
        List<StillDirectory.Pipe> all = directory.pipes();
        return all.stream()
                .filter(pipe -> onlyPipe == null || pipe.name().equals(onlyPipe))
                .toList();
    }

    /** Bytes of segment files, which {@link #run} will say to have read. */
    public long segmentBytes() throws IOException {
        SegmentBytes sum = new SegmentBytes();
        for (StillDirectory.Pipe pipe : pipes()) {
            Files.walkFileTree(pipe.path(), sum);
        }
        return sum.bytes;
    }

    /** Reads everything; tells {@code progress} of the bytes read since it was told last. */
    public DataReport run(LongConsumer progress) throws IOException {
        List<PipeReport> pipes = new ArrayList<>();
        for (StillDirectory.Pipe pipe : pipes()) {
            pipes.add(new PipeCheck(directory.root(), pipe, config, progress).run());
        }
        List<Damage> damages = new ArrayList<>();
        String lockProblem = directory.problemOfLock();
        if (!lockProblem.isEmpty()) {
            damages.add(new Damage("relay.lock", null, null, lockProblem));
        }
        List<String> tombstones = new ArrayList<>();
        for (Path tombstone : onlyPipe == null ? directory.tombstones() : List.<Path>of()) {
            String name = relative(tombstone);
            String problem = name.endsWith(".tmp") ? "" : StillDirectory.problemOf(tombstone);
            tombstones.add(name);
            if (!problem.isEmpty()) {
                damages.add(new Damage(name, null, null, "tombstone cannot be used: " + problem));
            }
        }
        List<String> deleted = onlyPipe == null
                ? directory.deleted().stream().map(this::relative).toList()
                : List.of();
        return new DataReport(
                directory.root().toString(), List.copyOf(pipes), List.copyOf(tombstones), deleted, damages);
    }

    private String relative(Path path) {
        return directory.root().relativize(path).toString();
    }

    private static final class SegmentBytes extends SimpleFileVisitor<Path> {
        private long bytes;

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            bytes += file.toString().endsWith(".cq4") ? attributes.size() : 0;
            return FileVisitResult.CONTINUE;
        }
    }
}
