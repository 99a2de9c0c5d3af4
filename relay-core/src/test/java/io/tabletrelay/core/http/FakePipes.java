package io.tabletrelay.core.http;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.pipe.Pipe;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        return pipes.computeIfAbsent(name, FakePipe::new);
    }

    public Optional<Pipe> find(PipeName name) {
        return Optional.ofNullable(pipes.get(name));
    }

    public List<PipeName> names() {
        return List.copyOf(pipes.keySet());
    }
}
