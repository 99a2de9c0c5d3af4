package io.tabletrelay.harness.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

class MachineLoadTest {
    private static final long BUSY_NANOS = 200_000_000;

    @Test
    void othersHaveWhatIsNeitherIdleNorOurs() {
        MachineLoad before = new MachineLoad(1_000, 400, 100);
        MachineLoad after = new MachineLoad(2_000, 900, 350);

        assertThat(after.othersPercentSince(before)).isEqualTo(25);
    }

    @Test
    void workOfThisProcessCountsAsOurs() throws IOException {
        MachineLoad before = MachineLoad.now();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long endNanos = threads.getCurrentThreadCpuTime() + BUSY_NANOS;
        while (threads.getCurrentThreadCpuTime() < endNanos) {
            Thread.onSpinWait();
        }
        MachineLoad after = MachineLoad.now();

        long own = after.ownTicks() - before.ownTicks();
        assertThat(own).isGreaterThanOrEqualTo(15); // of 10 ms each
        assertThat(after.busyTicks() - before.busyTicks()).isGreaterThanOrEqualTo(15);
        assertThat(after.allTicks()).isGreaterThan(before.allTicks());
    }
}
