package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/**
 * Cuts the power of the file system that a relay is on, again and again, at moments that are hard on it, with random pages
 * written back before; the relay is killed, the file system's journal replayed, and the relay started as after a boot.
 *
 * <p>What a failure leaves is in {@code target/power}: the image, the data folder as the last cut left it, what each relay
 * printed.
 *
 * <p>System properties: {@code power.cuts}, {@code power.seed} (0 picks one; it is printed).
 */
@DisabledIfSystemProperty(named = "power.cuts", matches = "0", disabledReason = "runs with -Ppower")
class PowerCutIT {
    private static final int CUTS_IN_A_SERIES = 12;

    private final int cuts = Integer.getInteger("power.cuts", 300);
    private final long seed = seed();
    private final Path home = Path.of("target", "power").toAbsolutePath();

    @Test
    void promisesHoldWhenThePowerIsCutAtTheWorstMoments() throws Exception {
        LoopFileSystem.assumeMountable(home);
        PowerStatistics statistics = new PowerStatistics();
        long startNanos = System.nanoTime();
        for (int series = 1; statistics.cuts() < cuts; series++) {
            run(series, statistics);
        }
        System.out.printf(
                "power: seed=%d, seconds=%d, %s%n", seed, (System.nanoTime() - startNanos) / 1_000_000_000, statistics);

        assertThat(statistics.forcedConfirmed()).as("confirmed at disk").isGreaterThan(cuts);
        Command.run("rm", "-rf", home.toString());
    }

    /** Each series follows from the seed and its own number, so that one can be run again without those before. */
    private void run(int number, PowerStatistics statistics) throws Exception {
        try (PowerSeries series = new PowerSeries(cleaned(), new Random(seed + number), statistics)) {
            boolean hasRoom = true;
            for (int cut = 1; cut <= CUTS_IN_A_SERIES && hasRoom && statistics.cuts() < cuts; cut++) {
                hasRoom = series.cut(cut);
            }
            series.finish();
        } catch (AssertionError | Exception e) {
            throw new AssertionError(
                    "series=" + number + ", cuts before=" + statistics.cuts()
                            + "; run again with: mvn -B verify -Ppower"
                            + " -Dpower.cuts=" + CUTS_IN_A_SERIES + " -Dpower.seed=" + (seed + number - 1)
                            + "; what is left is in " + home,
                    e);
        }
    }

    private Path cleaned() throws IOException {
        Command.succeeds("umount", "-l", home.resolve("mount").toString());
        Command.run("rm", "-rf", home.toString());
        return Files.createDirectories(home);
    }

    private static long seed() {
        long given = Long.getLong("power.seed", 0);
        return given == 0 ? System.nanoTime() & 0xffff_ffffL : given;
    }
}
