package io.tabletrelay.core.store.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.store.StoreException;
import io.tabletrelay.core.store.folder.PipeStore;
import io.tabletrelay.core.store.folder.StillDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A small pipe to which one thing after the other happens: it is opened and read each time, compared with what it was, and put
 * back.
 *
 * <p>Threading: confined to the thread that uses it.
 */
final class DamagedPipe {
    private static final int UNUSED_BYTES = 64;

    private final SmallPipe pipe;
    private final WholeFiles files;
    private final PipeState whole;
    private final Map<Path, RecordPlaces> places = new HashMap<>();
    private final StoreLog log;

    DamagedPipe(Path root, boolean killed, StoreLog log) throws IOException {
        this.pipe = SmallPipe.write(root, killed);
        this.log = log;
        this.files = new WholeFiles(root);
        for (Map.Entry<Path, WholeFiles.Whole> file : files.files().entrySet()) {
            places.put(
                    root.relativize(file.getKey()),
                    new RecordPlaces(file.getKey(), file.getValue().used()));
        }
        this.whole = pipe.open(PipeState::of);
        files.putBack();
        assertThat(log.take()).isEmpty();
        assertThat(pipe.check().isSound()).isTrue();
    }

    /** All that can happen to it. */
    List<FileDamage> damages() {
        List<FileDamage> all = new ArrayList<>();
        files.files().forEach((path, file) -> {
            boolean isLong = file.size() > file.usedBytes();
            long used = isLong ? Math.min(file.size(), file.usedBytes() + UNUSED_BYTES) : file.size();
            all.addAll(FileDamage.allOf(pipe.root().relativize(path), file.size(), used));
        });
        return all;
    }

    /**
     * Lets it happen, and fails if the pipe then says what it must not.
     *
     * @param checkedToo {@code check-data} must find it too, and the pipe must take an event more
     */
    void suffer(FileDamage damage, boolean checkedToo) throws IOException {
        damage.to(pipe.root());
        try {
            @Nullable DataReport report = checkedToo ? pipe.check() : null;
            @Nullable PipeState state = open(damage, checkedToo);
            DamageVerdict verdict = new DamageVerdict(
                    damage,
                    whole,
                    Objects.requireNonNull(places.get(damage.file())).touchedBy(damage),
                    log.take());
            if (state != null) {
                verdict.check(state);
            }
            Set<Path> changed = files.putBack();
            if (report == null) {
                verdict.checkChanges(pipe.root(), changed);
            } else {
                verdict.check(report, state);
            }
        } finally {
            files.putBack();
            log.take();
        }
    }

    private @Nullable PipeState open(FileDamage damage, boolean appends) {
        try {
            return pipe.open(store -> {
                PipeState state = PipeState.of(store);
                if (appends) {
                    append(store, state.events(), damage);
                }
                return state;
            });
        } catch (StoreException e) {
            assertThat(damage.file().toString())
                    .as("%s: %s", damage, e.reason())
                    .endsWith("pipe.json");
            assertThat(e.reason()).contains(SmallPipe.NAME, "pipe.json", "; ");
            return null;
        }
    }

    private void append(PipeStore store, PipeState.Log before, FileDamage damage) {
        long id = SmallPipe.append(store.log(), List.of("next"), null);
        PipeState.Log after = PipeState.Log.of(store.log());
        assertThat(id).as("%s", damage).isGreaterThan(whole.events().lastId());
        assertThat(after.texts().remove(id)).as("%s", damage).startsWith("next|");
        assertThat(after.texts()).as("%s", damage).isEqualTo(before.texts());
        assertThat(after.damaged()).as("%s", damage).isEqualTo(before.damaged());
    }

    /** Repairs a copy after the damage, and compares it with what the damaged pipe gives. */
    void repair(FileDamage damage, Path copy) throws IOException {
        damage.to(pipe.root());
        try {
            SmallPipe repaired = new SmallPipe(copy);
            repairInto(copy);
            DataReport sound = repaired.check();
            assertThat(sound.isSound()).as("%s: %s", damage, sound).isTrue();
            PipeState after = repaired.open(PipeState::of);
            @Nullable PipeState damaged = open(damage, false);
            PipeState expected = damaged == null ? whole : damaged;
            assertThat(after.events().texts())
                    .as("%s", damage)
                    .isEqualTo(expected.events().texts());
            assertThat(after.events().damaged()).isEmpty();
            assertThat(after.letters().texts())
                    .as("%s", damage)
                    .isEqualTo(expected.letters().texts());
            assertThat(new TreeSet<>(after.settled()).containsAll(expected.settled()))
                    .isTrue();
            assertThat(after.attempts()).as("%s", damage).isEqualTo(expected.attempts());
            assertThat(after.events().lastId())
                    .isGreaterThanOrEqualTo(whole.events().lastId());
        } finally {
            files.putBack();
            log.take();
        }
    }

    private void repairInto(Path copy) throws IOException {
        Files.createDirectories(copy);
        try (StillDirectory still = StillDirectory.open(pipe.root())) {
            DataReport report = new DataCheck(still, SmallPipe.SIZES, null).run(bytes -> {});
            new DataRepair(still, report, SmallPipe.SIZES, copy, false, InstantSource.system()).run();
        }
    }
}
