package io.tabletrelay.core.http;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.pipe.PipeGlance;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Pipes in memory, made when they are asked for.
 *
 * <p>Threading: thread-safe by its concurrent map.
 */
public final class FakePipes {
    private final Map<PipeName, FakePipe> pipes = new ConcurrentHashMap<>();

    public FakePipe pipe(String name) {
        return pipe(new PipeName(name));
    }

    public FakePipe pipe(PipeName name) {
        return pipes.computeIfAbsent(name, made -> new FakePipe(made, PipeSettings.NONE));
    }

    public Optional<Pipe> find(PipeName name) {
        return Optional.ofNullable(pipes.get(name));
    }

    /** Those of the pipe, if it is there. */
    public PipeSettings settings(PipeName name) {
        FakePipe pipe = pipes.get(name);
        return pipe == null ? PipeSettings.NONE : pipe.settings();
    }

    public CompletionStage<Boolean> create(PipeName name, PipeSettings settings) {
        FakePipe made = new FakePipe(name, settings);
        FakePipe there = pipes.putIfAbsent(name, made);
        return there == null || there.settings().meansTheSameAs(settings)
                ? CompletableFuture.completedStage(there == null)
                : CompletableFuture.failedStage(new RelayException(ErrorCode.PIPE_EXISTS, "pipe exists: pipe=" + name));
    }

    public List<PipeGlance> glances() {
        return names().stream()
                .map(name -> new PipeGlance(name.value(), "OPEN", "", true, false, 0L, 0L, 0, false))
                .toList();
    }

    public List<PipeName> names() {
        return List.copyOf(pipes.keySet());
    }
}
