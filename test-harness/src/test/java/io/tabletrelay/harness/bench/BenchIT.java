package io.tabletrelay.harness.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tabletrelay.harness.bench.client.Variant;
import io.tabletrelay.harness.bench.report.Profile;
import io.tabletrelay.harness.bench.report.Report;
import io.tabletrelay.harness.bench.report.ReportJson;
import io.tabletrelay.harness.bench.report.Tables;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every scenario once, with counts so small that the figures mean nothing: they are there, and could be true. */
class BenchIT {
    /** A window that is far smaller than what is sent: without acks that are read no round would end. */
    private static final BenchPlan TINY = new BenchPlan(
            1,
            0,
            1_024,
            100,
            3_000,
            3_000,
            List.of(1_000),
            Duration.ofMillis(300),
            3_000,
            3,
            Duration.ofMillis(500),
            20,
            20_000);

    private static final String LATENCY = "latency at 1,000/s";

    @TempDir
    private Path folder;

    @Test
    void everyScenarioYieldsPlausibleFigures() throws Exception {
        AtomicInteger rounds = new AtomicInteger();
        Path recording = folder.resolve("relay.jfr");
        Report report;
        try (Bench bench = new Bench(TINY, folder, recording, rounds::incrementAndGet)) {
            for (Scenario scenario : Scenario.values()) {
                scenario.measurement().run(bench);
            }
            report = bench.report();
        }

        assertThat(rounds)
                .hasValue(Stream.of(Scenario.values())
                        .mapToInt(scenario -> scenario.measurement().rounds(TINY))
                        .sum());
        assertThat(report.figures())
                .allSatisfy((key, values) -> assertThat(values)
                        .as("%s", key)
                        .singleElement()
                        .satisfies(value -> assertThat(value).isFinite().isNotNegative()));
        assertThat(report.aims())
                .hasSize(28)
                .filteredOn(aim -> !aim.aim().startsWith("CPU")) // so little that the clock may not have ticked
                .allSatisfy(aim ->
                        assertThat(aim.measured()).as("%s", aim).isFinite().isNotNegative());
        throughputIsPlausible(report);
        latencyIsPlausible(report);
        assertThat(report.median("idle", "3 consumers", "RSS MiB")).isBetween(20.0, 4_096.0);
        readersFindWhatWasMeasured(report, recording);
    }

    private static void throughputIsPlausible(Report report) {
        for (Variant variant : Throughput.VARIANTS) {
            assertThat(report.median("throughput", variant.label(), "events/s"))
                    .as("%s", variant)
                    .isBetween(10.0, 1e8);
        }
        // each makes a frame of each event, and so allocates at least its bytes
        for (Variant variant : List.of(Variant.RELAY, Variant.RELAY_HTTP, Variant.PLAIN, Variant.GATHERED)) {
            assertThat(report.median("throughput", variant.label(), "allocated B/event"))
                    .as("%s", variant)
                    .isBetween(1_024.0, 1e6);
        }
        assertThat(report.median("drain", Variant.RELAY.label(), "events/s")).isBetween(10.0, 1e8);
    }

    private static void latencyIsPlausible(Report report) {
        for (Variant variant : List.of(Variant.RELAY, Variant.GATHERED)) {
            double p50 = report.median(LATENCY, variant.label(), "p50 µs");
            double p99 = report.median(LATENCY, variant.label(), "p99 µs");
            double most = report.median(LATENCY, variant.label(), "most µs");

            assertThat(p50).as("%s", variant).isBetween(1.0, 6e7);
            assertThat(p99).as("%s", variant).isBetween(p50, most);
        }
    }

    private static void readersFindWhatWasMeasured(Report report, Path recording) throws Exception {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        Tables.print(report, out);
        Profile.of(recording).print(out);
        JsonNode json = new ObjectMapper().readTree(ReportJson.text(report, Map.of("cores", 2)));

        assertThat(text.toString())
                .contains("(a) plain sends", "relay / (b) >= 0.7", "p99.9 µs")
                .containsPattern("relay-transfer .* \\d");
        assertThat(json.path("cores").asInt()).isEqualTo(2);
        assertThat(json.path("figures").size()).isEqualTo(report.figures().size());
        assertThat(json.path("aims").path(0).path("aim").asText()).isEqualTo("relay / (a) >= 1.2");
    }
}
