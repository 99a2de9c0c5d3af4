package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Appended;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What became of an append, to wait for.
 *
 * <p>Threading: as its future.
 */
public final class Answer extends CompletableFuture<Appended> implements AppendListener {
    @Override
    public void answered(@Nullable Appended appended, @Nullable Throwable refusal) {
        if (refusal != null) {
            completeExceptionally(refusal);
        } else {
            complete(appended);
        }
    }
}
