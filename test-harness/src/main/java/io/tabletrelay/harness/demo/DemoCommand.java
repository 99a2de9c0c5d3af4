package io.tabletrelay.harness.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.Feed;
import io.tabletrelay.harness.History;
import io.tabletrelay.harness.RestartingRelay;
import io.tabletrelay.harness.TestConsumer;
import io.tabletrelay.harness.TestProducer;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code relay demo}: feeds a pipe with a sensor series, consumes it over a WebSocket, kills the relay with SIGKILL while
 * events are in flight, and shows that none is lost and none comes again after its ack.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(
        name = "demo",
        description = "Kills a relay again and again while events are in flight, and counts what comes of them."
                + " Works in a temporary folder and on free ports; takes about fifteen seconds.")
final class DemoCommand implements Callable<Integer> {
    private static final String PIPE = "demo";
    private static final int REQUESTS = 600;
    private static final int WINDOW_EVENTS = 10;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Option(names = "--kills", defaultValue = "3", description = "how often to kill (default: ${DEFAULT-VALUE})")
    private int kills;

    @Option(
            names = "--progress",
            negatable = true,
            description = "show a progress bar (default: if standard error is a terminal, as the launcher sees it)")
    private boolean progress;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    private final History history = new History();
    private @Nullable ProgressBar bar;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (kills < 1) {
            throw new IllegalArgumentException("kills=" + kills + " must be 1 or more");
        }
        Path data = Files.createTempDirectory("relay-demo-");
        try (RestartingRelay relay = RestartingRelay.serving(data)) {
            Thread cleanUp = new Thread(() -> cleanUp(relay, data), "demo-clean-up");
            Runtime.getRuntime().addShutdownHook(cleanUp);
            try {
                return show(relay);
            } finally {
                Runtime.getRuntime().removeShutdownHook(cleanUp);
                cleanUp(relay, data);
            }
        }
    }

    private int show(RestartingRelay relay) throws IOException, InterruptedException {
        say("a relay starts in a process of its own, with an empty data folder");
        Duration ready = relay.awaitReady(PATIENCE);
        say("ready after " + ready.toMillis() + " ms; " + REQUESTS
                + " requests with rows of a sensor series go in over HTTP and come out as tablets over a WebSocket");
        Feed feed = new Feed(PIPE, "sensor", "csv", new SensorSeries()::request, false, REQUESTS, Duration.ofMillis(5));
        bar = progressBar();
        try (TestProducer producer = new TestProducer(feed, relay::http, history);
                TestConsumer consumer = new TestConsumer(
                        PIPE, new TestConsumer.Behaviour(WINDOW_EVENTS, 0, false), relay::wsPort, history, 1)) {
            for (int kill = 1; kill <= kills; kill++) {
                long enough = (long) REQUESTS * kill / (kills + 1);
                await("events to flow", () -> producer.lastStored() >= enough && inFlight() > 0);
                killAndRestart(relay);
            }
            producer.awaitEnd(PATIENCE);
            await("all events to be acked", () -> history.unacked().isEmpty());
            closeBar();
            return report(status(relay), consumer.bindings());
        } finally {
            closeBar();
        }
    }

    private void closeBar() {
        if (bar != null) {
            bar.stepTo(history.ackedEvents());
            bar.close();
            bar = null;
        }
    }

    private void killAndRestart(RestartingRelay relay) throws IOException, InterruptedException {
        relay.kill();
        String then = history.confirmedEvents() + " confirmed, " + history.deliveredEvents() + " delivered, "
                + history.ackedEvents() + " acked";
        relay.start();
        Duration ready = relay.awaitReady(PATIENCE);
        say("kill -9 in flight (" + then + "); started again, ready after " + ready.toMillis() + " ms");
    }

    private long inFlight() {
        return history.deliveredEvents() - history.ackedEvents();
    }

    private JsonNode status(RestartingRelay relay) throws IOException, InterruptedException {
        RelayHttp http = new RelayHttp(relay.http());
        JsonNode status = http.pipe(PIPE);
        long endNanos = System.nanoTime() + PATIENCE.toNanos();
        while (status.path("floor").asLong() < status.path("lastId").asLong() && System.nanoTime() < endNanos) {
            Thread.sleep(20);
            status = http.pipe(PIPE);
        }
        return status;
    }

    private int report(JsonNode status, int bindings) {
        List<String> faults = history.faults(status.path("voidIds").asLong());
        long again =
                faults.stream().filter(fault -> fault.startsWith("duplicate")).count();
        PrintWriter out = spec.commandLine().getOut();
        out.println();
        row(out, "events confirmed", history.confirmedEvents());
        row(out, "delivered", history.deliveries());
        row(out, "acked", history.ackedEvents());
        row(out, "redelivered", history.deliveries() - history.deliveredEvents());
        row(out, "lost", history.lost());
        row(out, "duplicates after ack", again);
        row(out, "kills with SIGKILL", kills);
        row(out, "consumer connections", bindings);
        faults.forEach(fault -> out.println("broken promise: " + fault));
        boolean settled = status.path("floor").asLong() == status.path("lastId").asLong();
        if (!settled) {
            out.println("broken promise: the relay has not settled all events: " + status);
        }
        boolean kept = faults.isEmpty() && settled && history.confirmedEvents() > 0;
        out.println(kept ? "\nThe promises held: lost 0" : "\nThe promises did not hold");
        out.flush();
        return kept ? 0 : 1;
    }

    private static void row(PrintWriter out, String what, long number) {
        out.printf("  %-22s %,8d%n", what, number);
    }

    private void await(String what, BooleanSupplier condition) throws InterruptedException {
        long endNanos = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > endNanos) {
                throw new IllegalStateException("demo has waited in vain: for=" + what + ", confirmed="
                        + history.confirmedEvents() + ", delivered=" + history.deliveredEvents() + ", acked="
                        + history.ackedEvents());
            }
            if (bar != null) {
                bar.stepTo(history.ackedEvents());
            }
            Thread.sleep(10);
        }
    }

    private void say(String line) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        out.println("demo: " + line);
        if (out.checkError()) {
            throw new IOException("cannot print: standard output is closed or full; the demo has ended");
        }
    }

    private @Nullable ProgressBar progressBar() {
        if (!progress) {
            return null;
        }
        return new ProgressBarBuilder()
                .setTaskName("acked")
                .setInitialMax(REQUESTS)
                .setUpdateIntervalMillis(100)
                .build();
    }

    private static void cleanUp(RestartingRelay relay, Path data) {
        try {
            relay.kill();
            try (Stream<Path> paths = Files.walk(data)) {
                for (Path path : paths.sorted((a, b) -> b.compareTo(a)).toList()) {
                    Files.deleteIfExists(path);
                }
            }
        } catch (IOException e) {
            System.err.println("relay: demo folder could not be removed: path=" + data);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
