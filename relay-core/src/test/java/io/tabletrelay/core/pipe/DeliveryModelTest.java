package io.tabletrelay.core.pipe;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Histories at random against {@link DeliveryModel}: appends, every verb, lost connections, time, pauses, dropped events, resets
 * and restarts, stepped by hand.
 */
class DeliveryModelTest {
    private static final long FIRST_SEED = Long.getLong("model.seed", 1);
    private static final int HISTORIES = Integer.getInteger("model.histories", 100);

    @TempDir
    private Path folder;

    @Test
    void whateverHappensEachEventIsInOnePlaceAndGoesWhereItMay() {
        for (long seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
            try (DeliveryHistory history = new DeliveryHistory(folder.resolve("data-" + seed), seed)) {
                try {
                    history.run();
                } catch (AssertionError | RuntimeException e) {
                    throw new AssertionError("-Dmodel.histories=1 -Dmodel.seed=" + seed + ": " + history.story, e);
                }
            }
        }
    }
}
