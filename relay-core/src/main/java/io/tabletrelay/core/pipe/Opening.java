package io.tabletrelay.core.pipe;

import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.store.DamageException;
import io.tabletrelay.core.store.folder.PipeStore;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to open a pipe's store.
 *
 * <p>Threading: run, and closed if it comes to nothing, by I/O tasks, one at a time; what it found is for the transfer thread once
 * {@link #run} has ended well.
 */
final class Opening {
    private final Supplier<PipeStore> opener;
    private final @Nullable DamageException known;
    private @Nullable PipeStore store;
    private @Nullable DeadLetters deadLetters;

    /** {@code known}: what must be gone first; null: nothing. */
    Opening(Supplier<PipeStore> opener, @Nullable DamageException known) {
        this.opener = opener;
        this.known = known;
    }

    void run() {
        if (known != null && known.isStillTrue()) {
            throw known;
        }
        PipeStore opened = opener.get();
        store = opened;
        DeadLetters letters = new DeadLetters(opened.deadLetterLog(), opened.handledLetters());
        letters.resolveRedrive(opened.log());
        letters.settleIn(opened.subscriptions().existing());
        deadLetters = letters;
    }

    /** Closes what was opened, also where {@link #run} has failed. */
    void close() {
        PipeStore opened = store;
        if (opened != null) {
            opened.close();
        }
    }

    PipeStore store() {
        return Objects.requireNonNull(store);
    }

    DeadLetters deadLetters() {
        return Objects.requireNonNull(deadLetters);
    }
}
