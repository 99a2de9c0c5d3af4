package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.bench.client.ServerProcess;
import io.tabletrelay.harness.bench.client.Usage;
import io.tabletrelay.harness.bench.client.Variant;
import io.tabletrelay.harness.bench.report.Report;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One run of the benches: its servers, each started at its first use and kept warm, and what was found.
 *
 * <p>Threading: confined to one thread.
 */
final class Bench implements AutoCloseable {
    /** Nothing that is worth a figure takes longer. */
    static final Duration PATIENCE = Duration.ofMinutes(2);

    static final String CPU = "CPU µs/event";

    private final BenchPlan plan;
    private final Path data;
    private final @Nullable Path recording;
    private final Runnable progress;
    private final Report report = new Report();
    private final Map<Variant, ServerProcess> servers = new EnumMap<>(Variant.class);

    /**
     * @param data an empty folder for what the servers store
     * @param recording where the relay's process records a profile, or null
     * @param progress called after each round
     */
    Bench(BenchPlan plan, Path data, @Nullable Path recording, Runnable progress) {
        this.plan = plan;
        this.data = data;
        this.recording = recording;
        this.progress = progress;
    }

    BenchPlan plan() {
        return plan;
    }

    Report report() {
        return report;
    }

    /** The process that serves this variant. */
    ServerProcess server(Variant variant) throws IOException {
        ServerProcess running = servers.get(variant);
        if (running == null) {
            running = start(variant, variant.name(), plan.eventBytes(), variant == Variant.RELAY ? recording : null);
            servers.put(variant, running);
        }
        return running;
    }

    /** A process that has done nothing yet, to be closed by the caller. */
    ServerProcess newServer(Variant variant, int eventBytes) throws IOException {
        return start(variant, "new", eventBytes, null);
    }

    /** A folder of that scenario's own, which is there when it is first used. */
    Path folder(String scenario) {
        return data.resolve(scenario);
    }

    private ServerProcess start(Variant variant, String folder, int eventBytes, @Nullable Path profile)
            throws IOException {
        return new ServerProcess(variant, data.resolve(folder), eventBytes, plan.windowEvents(), profile);
    }

    void roundDone() {
        progress.run();
    }

    /** What a server used for each event between two looks. */
    void addCosts(String scenario, String variant, Usage before, Usage after, long events) {
        report.add(scenario, variant, CPU, (after.cpuNanos() - before.cpuNanos()) / 1e3 / events);
        report.add(
                scenario,
                variant,
                "allocated B/event",
                (double) (after.allocatedBytes() - before.allocatedBytes()) / events);
    }

    @Override
    public void close() {
        servers.values().forEach(ServerProcess::close);
        servers.clear();
    }
}
