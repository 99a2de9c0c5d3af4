package io.tabletrelay.core.store.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.store.IdRange;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a pipe may say after a damage.
 *
 * <p>Threading: immutable.
 *
 * @param touched events of the damaged file whose bytes may have changed
 * @param said what was logged meanwhile
 */
record DamageVerdict(FileDamage damage, PipeState whole, Set<Long> touched, List<String> said) {
    private static final Set<Long> NONE = Set.of();

    void check(PipeState state) {
        boolean isLetters = damage.file().toString().contains("dead-letters");
        checkLog("events", whole.events(), state.events(), isLetters ? NONE : touched);
        checkLog("letters", whole.letters(), state.letters(), isLetters ? touched : NONE);
        require(state.events().lastId() >= whole.events().lastId(), "an id is given again");
        require(whole.settled().containsAll(state.settled()), "an ack that nobody gave: " + state.settled());
        require(damageIs(".settled") || state.settled().equals(whole.settled()), "acks are lost: " + state.settled());
        for (var attempt : state.attempts().entrySet()) {
            require(isAttempt(attempt.getKey(), attempt.getValue()), "an attempt that was none: " + attempt);
        }
        require(
                damageIs(".attempts") || state.attempts().equals(whole.attempts()),
                "attempts are lost: " + state.attempts());
        require(state.lastSequence() <= whole.lastSequence(), "a publish that was none");
        require(
                !touched.isEmpty() || state.lastSequence() == whole.lastSequence(),
                "a publish is forgotten: " + state.lastSequence());
        require(!isLess(state) || isNamed(), "it is not named: " + said);
    }

    /** Nothing may be given under another id, kept back, or given as damaged that is not. */
    private void checkLog(String log, PipeState.Log before, PipeState.Log now, Set<Long> lost) {
        now.texts().forEach((id, text) -> require(text.equals(before.texts().get(id)), log + ": another event: " + id));
        for (long id = 1; id <= before.lastId(); id++) {
            boolean wasThere = before.texts().containsKey(id);
            boolean isThere = now.texts().containsKey(id);
            require(isThere || !wasThere || lost.contains(id), log + ": an event is kept back: " + id);
            require(!(isThere && now.isDamaged(id)), log + ": given twice: " + id);
            boolean isNamed = isThere || !wasThere || now.isDamaged(id) || mayBeUnknown(log);
            require(isNamed, log + ": an event is passed over: " + id);
        }
    }

    /** Nothing says then how many letters there were. */
    private boolean mayBeUnknown(String log) {
        return log.equals("letters") && damageIs(".cq4") && damage.kind() != FileDamage.Kind.FLIP;
    }

    private boolean isLess(PipeState state) {
        return !state.events().damaged().isEmpty()
                || !state.letters().texts().equals(whole.letters().texts())
                || !state.settled().equals(whole.settled())
                || (!state.attempts().equals(whole.attempts()) && damage.kind() == FileDamage.Kind.FLIP);
    }

    private boolean isAttempt(long id, String attempt) {
        return attempt.equals(whole.attempts().get(id)) || attempt.equals("1 6000 ack timeout");
    }

    private boolean isNamed() {
        Path folder = damage.file().getParent();
        return said.stream()
                .anyMatch(line -> line.contains(damage.file().toString())
                        || (damageIs(".cq4") && line.contains(String.valueOf(folder))));
    }

    private boolean damageIs(String suffix) {
        return damage.file().toString().endsWith(suffix);
    }

    /** An open may write what it writes anyway, and set aside what is damaged. */
    void checkChanges(Path root, Set<Path> changed) {
        for (Path path : changed) {
            Path file = root.relativize(path);
            String name = String.valueOf(file.getFileName());
            boolean isUsual = file.equals(damage.file())
                    || name.equals("relay.lock")
                    || name.equals("covered")
                    || name.equals("metadata.cq4t")
                    || name.contains(".damaged-");
            require(isUsual, "another file was changed: " + file);
        }
    }

    /** What the store says, check-data says too; neither calls whole what is not. */
    void check(DataReport report, @Nullable PipeState state) {
        boolean isLess = state == null || isLess(state) || !state.attempts().equals(whole.attempts());
        boolean isCut = damageIs(".attempts") && damage.kind() != FileDamage.Kind.FLIP;
        boolean isGoneRing = damageIs(".settled") && damage.kind() == FileDamage.Kind.GONE;
        require(!isLess || !report.isSound() || isCut || isGoneRing, "check-data does not find it");
        for (PipeReport pipe : report.pipes()) {
            for (Damage found : pipe.damages()) {
                Long first = found.firstId();
                Long last = found.lastId();
                if (first != null && last != null && !found.file().contains("dead-letters")) {
                    checkLost(new IdRange(first, last), found);
                }
            }
        }
    }

    private void checkLost(IdRange ids, Damage found) {
        for (long id = ids.first(); id <= Math.min(ids.last(), whole.events().lastId()); id++) {
            boolean wasThere = whole.events().texts().containsKey(id);
            require(!wasThere || touched.contains(id), "check-data calls an event lost: " + found);
        }
    }

    private void require(boolean isSo, String problem) {
        assertThat(isSo).as("%s: %s", damage, problem).isTrue();
    }
}
