package io.tabletrelay.harness.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {
    private final Report report = new Report();

    @Test
    void aRatioIsTheMedianOfThePairsAndNotTheRatioOfTheMedians() {
        add("relay", 10, 40, 90);
        add("plain", 10, 10, 30);

        double ratio = report.ratio("speed", "events/s", "relay", "plain");

        assertThat(ratio).isEqualTo(3);
    }

    @Test
    void theMedianOfAnEvenNumberLiesBetweenTheMiddleTwo() {
        add("relay", 9, 1, 3, 5);

        assertThat(report.median("speed", "relay", "events/s")).isEqualTo(4);
    }

    @Test
    void anAimIsMetFromItsLimitOn() {
        report.aimAtLeast("speed", "relay / plain", 1.2, 1.2);
        report.aimAtLeast("speed", "relay / plain", 1.19, 1.2);
        report.aimAtMost("latency", "relay / plain", 1.3, 1.3);
        report.aimAtMost("latency", "relay / plain", 1.31, 1.3);
        report.compare("latency", "relay / other", 2);

        assertThat(report.aims()).extracting(Report.Aim::met).containsExactly(true, false, true, false, null);
    }

    @Test
    void whatWasNotMeasuredMeetsNothing() {
        report.aimAtLeast("speed", "relay / plain", report.ratio("speed", "events/s", "relay", "plain"), 0);

        assertThat(report.aims()).extracting(Report.Aim::met).containsExactly(false);
    }

    @Test
    void tablesShowTheMedianAndTheExtremesInAlignedColumns() {
        add("relay", 1_000, 2_000, 3_000);
        report.add("speed", "relay", "CPU", 1.5);
        add("plain sends", 5);
        report.aimAtLeast("speed", "relay / plain", 0.5, 1.2);
        StringWriter text = new StringWriter();

        Tables.print(report, new PrintWriter(text));

        assertThat(text.toString().lines())
                .containsExactlyElementsOf(List.of(
                        "speed                     events/s   CPU",
                        "relay        2,000 (1,000 … 3,000)  1.50",
                        "plain sends                   5.00",
                        "",
                        "scenario                   aim  measured  met",
                        "speed     relay / plain >= 1.2      0.50   no",
                        ""));
    }

    private void add(String variant, double... rounds) {
        for (double value : rounds) {
            report.add("speed", variant, "events/s", value);
        }
    }
}
