package io.tabletrelay.core.store.acks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** One event delivered and settled; the ring's file is in the temporary folder. */
@State(Scope.Thread)
public class SettledIdsBenchmark {
    /** How far acks lag behind deliveries. */
    private static final int WINDOW_EVENTS = 1_000;

    @SuppressWarnings("NullAway.Init") // set before the first benchmark
    private Path folder;

    @SuppressWarnings("NullAway.Init") // set before the first benchmark
    private SettledIds settled;

    private long delivered;

    @Setup(Level.Iteration)
    public void open() throws IOException {
        folder = Files.createTempDirectory("relay-jmh-");
        settled = SettledIds.open(folder.resolve("ring"), 1, 0, SettledIds.DEFAULT_MAX_SPREAD_IDS);
        for (delivered = 0; delivered < WINDOW_EVENTS; delivered++) {
            settled.raiseDeliveredUpTo(delivered + 1);
        }
    }

    @TearDown(Level.Iteration)
    public void delete() throws IOException {
        Files.delete(folder.resolve("ring"));
        Files.delete(folder);
    }

    @Benchmark
    public boolean settleInOrder() {
        settled.raiseDeliveredUpTo(++delivered);
        return settled.settle(delivered - WINDOW_EVENTS);
    }

    /** Each two acks the wrong way round. */
    @Benchmark
    public boolean settleOutOfOrder() {
        settled.raiseDeliveredUpTo(++delivered);
        return settled.settle(((delivered - WINDOW_EVENTS - 1) ^ 1) + 1);
    }
}
