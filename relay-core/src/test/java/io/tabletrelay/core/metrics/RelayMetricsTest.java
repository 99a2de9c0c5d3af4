package io.tabletrelay.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RelayMetricsTest {
    private static final Pattern SAMPLE = Pattern.compile("[a-z_]+(\\{[a-z]+=\"(?:[^\"\\\\]|\\\\[\\\\\"n])*\""
            + "(,[a-z]+=\"(?:[^\"\\\\]|\\\\[\\\\\"n])*\")*})? (NaN|-?[0-9.E]+)");

    private final RelayMetrics metrics = new RelayMetrics();

    @AfterEach
    void close() {
        metrics.close();
    }

    @Test
    void aPipesCountsAppearUnderItsName() {
        PipeMetrics plant = metrics.pipe(new PipeName("plant"));

        plant.appended(2, 300);
        plant.delivered(3, 450);
        plant.acked(1);
        plant.nacked(1);
        plant.timedOut(4);
        plant.redelivered(5, RedeliveryReason.ACK_TIMEOUT);
        plant.deadLettered(6);
        plant.lateAcksDropped(7);
        plant.refused(ErrorCode.PIPE_FULL);

        assertThat(lines())
                .contains(
                        "relay_pipe_appended_events_total{pipe=\"plant\"} 2.0",
                        "relay_pipe_appended_bytes_total{pipe=\"plant\"} 300.0",
                        "relay_pipe_delivered_events_total{pipe=\"plant\"} 3.0",
                        "relay_pipe_delivered_bytes_total{pipe=\"plant\"} 450.0",
                        "relay_pipe_acked_events_total{pipe=\"plant\"} 1.0",
                        "relay_pipe_nacked_events_total{pipe=\"plant\"} 1.0",
                        "relay_pipe_timed_out_events_total{pipe=\"plant\"} 4.0",
                        "relay_pipe_redelivered_events_total{pipe=\"plant\",reason=\"ack-timeout\"} 5.0",
                        "relay_pipe_dead_letters_total{pipe=\"plant\"} 6.0",
                        "relay_pipe_late_acks_dropped_total{pipe=\"plant\"} 7.0",
                        "relay_pipe_refused_publishes_total{code=\"PIPE_FULL\",pipe=\"plant\"} 1.0")
                .contains("# TYPE relay_pipe_appended_events_total counter");
    }

    @Test
    void aPipesGaugesShowItsState() {
        metrics.pipe(new PipeName("plant")).show(gauges(5));
        metrics.pipe(new PipeName("plant")).show(gauges(9));

        assertThat(lines())
                .contains(
                        "# TYPE relay_pipe_backlog_events gauge",
                        "relay_pipe_backlog_events{pipe=\"plant\"} 9.0",
                        "relay_pipe_last_id{pipe=\"plant\"} 13.0");
    }

    @Test
    void aBrokenGaugeHidesNoOther() {
        metrics.edge().showConnections(() -> {
            throw new IllegalStateException("closed");
        });

        assertThat(lines()).contains("relay_edge_connections NaN", "relay_edge_malformed_lines_total 0.0");
    }

    @Test
    void everyLineHasTheFormatsShapeAndEveryMetricItsHelpAndType() {
        metrics.pipe(new PipeName("plant")).show(gauges(1));
        metrics.serializer("csv").serialized();
        Set<String> described = new HashSet<>();
        Set<String> typed = new HashSet<>();

        for (String line : lines()) {
            if (line.startsWith("# HELP ")) {
                described.add(line.split(" ", 4)[2]);
            } else if (line.startsWith("# TYPE ")) {
                typed.add(line.split(" ", 4)[2]);
            } else {
                assertThat(line).matches(SAMPLE);
                String name = line.split("[{ ]", 2)[0];
                assertThat(described).contains(name);
                assertThat(typed).contains(name);
            }
        }

        assertThat(typed).contains("jvm_memory_heap_used_bytes", "jvm_gc_seconds_total", "process_open_files_ratio");
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '\'',
            value = {
                "'say \"hi\"', 'say \\\"hi\\\"'",
                "'back\\slash', 'back\\\\slash'",
                "'a=b,c}{', 'a=b,c}{'",
                "'Anlage № 7 ☃', 'Anlage № 7 ☃'",
                "'*?', '*?'"
            })
    void oddPipeNamesAreEscaped(String name, String escaped) {
        metrics.pipe(new PipeName(name)).appended(1, 1);

        assertThat(lines()).contains("relay_pipe_appended_events_total{pipe=\"" + escaped + "\"} 1.0");
        assertThat(lines()).filteredOn(line -> !line.startsWith("#")).allMatch(SAMPLE.asMatchPredicate());
    }

    @Test
    void namesThatDifferOnlyInQuotesAreDifferentPipes() {
        metrics.pipe(new PipeName("a\"")).appended(1, 1);
        metrics.pipe(new PipeName("a\\\"")).appended(2, 2);

        assertThat(lines())
                .contains(
                        "relay_pipe_appended_events_total{pipe=\"a\\\"\"} 1.0",
                        "relay_pipe_appended_events_total{pipe=\"a\\\\\\\"\"} 2.0");
    }

    @Test
    void aRemovedPipeLeavesNothingBehind() {
        PipeName name = new PipeName("gone");
        metrics.pipe(name).show(gauges(1));
        metrics.pipe(name).refused(ErrorCode.PIPE_FULL);
        metrics.pipe(name).redelivered(1, RedeliveryReason.NACK);

        metrics.removePipe(name);

        assertThat(lines()).noneMatch(line -> line.contains("gone"));
    }

    @Test
    void aThousandPipesAreRendered() {
        List<PipeName> names = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            PipeName name = new PipeName("pipe-" + i);
            names.add(name);
            metrics.pipe(name).show(gauges(i));
        }

        List<String> lines = lines();

        assertThat(lines.stream().filter(line -> line.startsWith("relay_pipe_last_id{")))
                .hasSize(names.size());
        assertThat(lines).hasSizeGreaterThan(14_000);
    }

    @Test
    void whatIsCountedIsSeenOverJmxUntilClosed() throws JMException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName(
                "io.tabletrelay:name=relay_pipe_acked_events,pipe=" + ObjectName.quote("odd, \"*\" name"));
        metrics.startJmx();

        metrics.pipe(new PipeName("odd, \"*\" name")).acked(3);

        assertThat(server.getAttribute(name, "Count")).isEqualTo(3L);
        metrics.close();
        assertThat(server.isRegistered(name)).isFalse();
    }

    private List<String> lines() {
        return new String(metrics.prometheusText(), StandardCharsets.UTF_8)
                .lines()
                .toList();
    }

    private static PipeGauges gauges(long first) {
        return new PipeGauges() {
            @Override
            public long backlogEvents() {
                return first;
            }

            @Override
            public long inFlightEvents() {
                return first + 1;
            }

            @Override
            public long waitingEvents() {
                return first + 2;
            }

            @Override
            public long settledFloor() {
                return first + 3;
            }

            @Override
            public long lastId() {
                return first + 4;
            }
        };
    }
}
