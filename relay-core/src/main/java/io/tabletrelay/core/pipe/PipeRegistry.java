package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pipes of a relay by name, and the threads that serve them: transfer threads, which share the pipes, and I/O threads.
 *
 * <p>Pipes are opened at their first use, and made then, unless they were made before.
 *
 * <p>Threading: thread-safe. Created and closed by the composition root.
 */
public final class PipeRegistry implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PipeRegistry.class);
    private static final int IO_THREADS = 4;
    private static final long LOOK_AGAIN_NANOS = 5_000_000;
    private static final int CLOSE_SECONDS = 30;

    private final DataDirectory directory;
    private final PipeContext context;
    private final RelayMetrics metrics;
    private final ExecutorService ioThreads;
    private final List<TransferThread> transferThreads = new ArrayList<>();
    private final AtomicInteger nextThread = new AtomicInteger();
    private final ConcurrentHashMap<PipeName, LoopedPipe> pipes = new ConcurrentHashMap<>();
    private volatile boolean stopping;

    public PipeRegistry(
            DataDirectory directory,
            StoreConfig store,
            DeliveryContext delivery,
            int transferThreadCount,
            int maxOpenPipes,
            RelayMetrics metrics) {
        this.directory = directory;
        this.metrics = metrics;
        AtomicInteger number = new AtomicInteger();
        this.ioThreads = Executors.newFixedThreadPool(IO_THREADS, task -> {
            Thread thread = new Thread(task, "relay-disk-" + number.getAndIncrement());
            thread.setDaemon(true);
            return thread;
        });
        this.context = new PipeContext(
                store, delivery, ioThreads, SystemLimits.ofThisProcess().places(maxOpenPipes));
        for (int i = 0; i < transferThreadCount; i++) {
            TransferThread thread = new TransferThread(i, delivery.nanoTime());
            transferThreads.add(thread);
            thread.start();
        }
    }

    /** The pipe of that name, made if there is none. Throws RelayException when the relay is stopping. */
    public Pipe pipe(PipeName name) {
        LoopedPipe existing = pipes.get(name);
        if (existing != null) {
            return existing;
        }
        if (stopping) {
            throw stopping(name);
        }
        return pipes.computeIfAbsent(name, this::make);
    }

    private static RelayException stopping(PipeName name) {
        return new RelayException(
                ErrorCode.STOPPING, "relay is stopping: pipe=" + name + "; try again when it is back");
    }

    /** The pipe of that name if there is one. */
    public Optional<Pipe> find(PipeName name) {
        return pipes.containsKey(name) || directory.exists(name) ? Optional.of(pipe(name)) : Optional.empty();
    }

    /**
     * Makes a pipe with these settings. Completes, on an I/O thread, once it is on disk; with false if it was there before,
     * with settings that mean the same. Fails with RelayException, PIPE_EXISTS if it was there with others.
     */
    public CompletionStage<Boolean> create(PipeName name, PipeSettings settings) {
        return stopping
                ? CompletableFuture.failedStage(stopping(name))
                : CompletableFuture.supplyAsync(() -> directory.create(name, settings), ioThreads);
    }

    /** The settings of that pipe, none if there is no such pipe; reads a small file if the pipe is not open. */
    public PipeSettings settings(PipeName name) {
        return directory.settings(name);
    }

    /** All pipes there are, by name; none is opened for that. Reads the directory, and once the small file of each pipe. */
    public List<PipeGlance> glances() {
        TreeMap<String, PipeGlance> byName = new TreeMap<>();
        directory
                .pipes()
                .forEach(name -> byName.put(
                        name.value(), PipeGlance.of(name.value(), atRest(name), LoopedPipe.Snapshot.NOTHING)));
        pipes.forEach((name, pipe) -> byName.put(name.value(), pipe.glance(() -> atRest(name))));
        return List.copyOf(byName.values());
    }

    /** A pipe that nobody has used since the relay was started. */
    private Standing atRest(PipeName name) {
        try {
            return new Standing(FilesState.AT_REST, directory.lifeCycle(name), "", false);
        } catch (RelayException e) {
            return new Standing(FilesState.FAILED, null, e.reason(), false);
        }
    }

    /**
     * Deletes a pipe: its connections, publishes and questions are refused, its files are closed, and the pipe is gone; also one
     * that has failed. Completes on an I/O thread, once that is on disk. A pipe made under this name later goes on above its ids,
     * and nothing said to this one reaches it. Fails with RelayException: NO_SUCH_PIPE, {@link WrongVersionException}; if the disk
     * refuses, the next use of the name finds the pipe as it was.
     *
     * @param ifVersion the version that its state must have; null: any
     */
    public CompletionStage<Void> delete(PipeName name, @Nullable Long ifVersion) {
        if (stopping) {
            return CompletableFuture.failedStage(stopping(name));
        }
        return CompletableFuture.supplyAsync(() -> toDelete(name, ifVersion), ioThreads)
                .thenCompose(pipe -> pipe.delete().thenRunAsync(() -> delete(pipe), ioThreads));
    }

    private LoopedPipe toDelete(PipeName name, @Nullable Long ifVersion) {
        if (!pipes.containsKey(name) && !directory.exists(name)) {
            throw new RelayException(
                    ErrorCode.NO_SUCH_PIPE, "pipe cannot be deleted: pipe=" + name + "; there is none");
        }
        if (ifVersion != null) {
            long version = directory.lifeCycle(name).version();
            if (version != ifVersion) {
                throw new WrongVersionException(name, version, ifVersion);
            }
        }
        return pipes.computeIfAbsent(name, this::make);
    }

    private void delete(LoopedPipe pipe) {
        try {
            directory.delete(pipe.name());
        } finally { // whatever is there now, that one serves it no more
            metrics.removePipe(pipe.name());
            pipes.remove(pipe.name(), pipe);
        }
        log.info("pipe deleted: pipe={}", pipe.name());
    }

    /** Takes no publish and sends nothing from now on. Returns once nothing is in flight, or when the time is up. */
    public void stopSending(long timeoutNanos) {
        stopping = true;
        long deadline = context.delivery().nanoTime().getAsLong() + timeoutNanos;
        CompletableFuture<?> stopped = CompletableFuture.allOf(
                pipes.values().stream().map(LoopedPipe::stopSending).toArray(CompletableFuture<?>[]::new));
        while ((!stopped.isDone() || anyInFlight())
                && context.delivery().nanoTime().getAsLong() - deadline < 0) {
            LockSupport.parkNanos(this, LOOK_AGAIN_NANOS);
        }
    }

    private boolean anyInFlight() {
        return pipes.values().stream().anyMatch(LoopedPipe::hasInFlight);
    }

    /** Closes all pipes and ends the threads. */
    @Override
    public void close() {
        stopping = true;
        CompletableFuture<?>[] closing =
                pipes.values().stream().map(LoopedPipe::close).toArray(CompletableFuture<?>[]::new);
        try {
            CompletableFuture.allOf(closing).get(CLOSE_SECONDS, TimeUnit.SECONDS);
            for (TransferThread thread : transferThreads) {
                thread.stop();
                thread.join();
            }
            ioThreads.shutdown();
            if (!ioThreads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                log.warn("disk threads still busy after {} s, leaving them", CLOSE_SECONDS);
            }
        } catch (TimeoutException | ExecutionException e) {
            log.warn("not all pipes could be closed within {} s: nothing confirmed is lost", CLOSE_SECONDS, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private LoopedPipe make(PipeName name) {
        TransferThread thread =
                transferThreads.get(Math.floorMod(nextThread.getAndIncrement(), transferThreads.size()));
        LoopedPipe pipe = new LoopedPipe(
                name,
                () -> PipeStore.open(
                        directory.pipe(name),
                        context.store(),
                        context.delivery().config().maxAckSpread(),
                        context.delivery().clock()),
                thread,
                context,
                metrics.pipe(name));
        metrics.pipe(name).show(pipe);
        pipe.wake();
        return pipe;
    }
}
