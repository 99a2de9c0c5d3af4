package io.tabletrelay.core.http;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.Publisher;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.pipe.PipeGlance;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What HTTP sees of the relay.
 *
 * <p>Threading: immutable; its functions are called by any HTTP thread and must not wait.
 *
 * @param publisher takes what is posted
 * @param sourceTypes the types that can be posted
 * @param pipes all pipes there are, without opening any
 * @param findPipe an existing pipe, or empty; never makes one
 * @param createPipe makes a pipe; brings false if it was there with settings that mean the same
 * @param deletePipe deletes a pipe
 * @param metrics shown at {@code /metrics}
 * @param notReadyReasons why the relay is not ready; empty if it is
 */
public record RelayView(
        Publisher publisher,
        Supplier<List<String>> sourceTypes,
        Supplier<List<PipeGlance>> pipes,
        Function<PipeName, Optional<Pipe>> findPipe,
        BiFunction<PipeName, PipeSettings, CompletionStage<Boolean>> createPipe,
        PipeDeletion deletePipe,
        RelayMetrics metrics,
        Supplier<List<String>> notReadyReasons) {
    /** Deletes a pipe. */
    @FunctionalInterface
    public interface PipeDeletion {
        /** Completes once the pipe is gone; {@code ifVersion}: only if its state has this version; null: any. */
        CompletionStage<Void> delete(PipeName name, @Nullable Long ifVersion);
    }
}
