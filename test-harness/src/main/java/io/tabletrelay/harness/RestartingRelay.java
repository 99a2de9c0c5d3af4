package io.tabletrelay.harness;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Relay processes one after the other on one data folder; knows where the latest one listens.
 *
 * <p>Threading: thread-safe by its monitor, but for {@link #awaitReady}, which waits outside of it.
 */
public final class RestartingRelay implements AutoCloseable {
    private final Starter starter;
    private final List<Duration> startsToReady = new ArrayList<>();
    private RelayProcess current;
    private int runs = 1;

    /** Starts the first process. */
    public RestartingRelay(Starter starter) throws IOException {
        this.starter = starter;
        this.current = starter.start(1);
    }

    /** A relay of the plain command line on this folder. */
    public static RestartingRelay serving(Path data) throws IOException {
        return new RestartingRelay(run -> RelayProcess.serve(data));
    }

    /** Starts the next process; the one before must be gone. */
    public synchronized void start() throws IOException {
        current = starter.start(++runs);
    }

    /** Waits until the latest process is ready, and remembers how long it took from its start. */
    public Duration awaitReady(Duration timeout) throws InterruptedException {
        Duration took = current().awaitReady(timeout);
        synchronized (this) {
            startsToReady.add(took);
        }
        return took;
    }

    /** How many processes were started. */
    public synchronized int runs() {
        return runs;
    }

    public synchronized RelayProcess current() {
        return current;
    }

    /** Where the latest process serves HTTP; port 0, where nobody is, until it is ready. */
    public URI http() {
        return current().http();
    }

    /** On which port the latest process listens for WebSockets; 0, where nobody is, until it is ready. */
    public int wsPort() {
        return current().wsPort();
    }

    /** SIGKILL to the latest process. */
    public void kill() throws InterruptedException {
        current().kill();
    }

    /** Each wait for readiness so far, shortest first. */
    public synchronized List<Duration> startsToReady() {
        return startsToReady.stream().sorted().toList();
    }

    @Override
    public void close() {
        current().close();
    }

    /** How to start a process. */
    @FunctionalInterface
    public interface Starter {
        /** Starts run number {@code run}, from 1. */
        RelayProcess start(int run) throws IOException;
    }
}
