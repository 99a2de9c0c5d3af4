package io.tabletrelay.harness.store;

import static io.tabletrelay.harness.store.StoredRelay.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A log that rolls all the time, with everything acked: mvn -Pstorage. */
@EnabledIfSystemProperty(named = "storage.full", matches = "true", disabledReason = "runs with -Pstorage")
@EnabledOnOs(OS.LINUX)
class ManyRollsIT {
    private static final int ROUNDS = 200;
    private static final int ROLLS_A_ROUND = 3;
    /** More than half of the smallest segment, so that each event is in one of its own. */
    private static final int EVENT_BYTES = 700 << 10;

    @TempDir
    private Path data;

    @Test
    void segmentsAndHandlesDoNotPileUp() throws Exception { // BR-109, BR-110, BR-111
        try (StoredRelay relay = StoredRelay.start(data, "--max-bytes=4MiB")) {
            long last = 0;
            int handlesAtFirst = 0;
            for (int round = 1; round <= ROUNDS; round++) {
                for (int i = 0; i < ROLLS_A_ROUND; i++) {
                    relay.publish("orders", ++last, EVENT_BYTES);
                }
                relay.consume("orders", last - ROLLS_A_ROUND + 1, last);
                if (round == 5) {
                    handlesAtFirst = handles(relay).size();
                }
            }

            await("deleted")
                    .atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(segments()).isLessThanOrEqualTo(3));
            await("closed")
                    .atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(openDeleted(relay)).isEmpty());
            assertThat(handles(relay).size()).isLessThanOrEqualTo(handlesAtFirst + 5);
            assertThat(relay.status("orders").path("settled").asLong()).isEqualTo(last);
            assertThat(relay.status("orders").path("voidIds").asLong(-1)).isZero();
        }
    }

    private long segments() throws IOException {
        try (Stream<Path> all = Files.list(data.resolve("pipes/orders/events"))) {
            return all.count();
        }
    }

    private static List<String> handles(StoredRelay relay) throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> handles = Files.list(proc(relay, "fd"))) {
            for (Path handle : handles.toList()) {
                found.add(target(handle));
            }
        }
        return found;
    }

    private static String target(Path handle) throws IOException {
        try {
            return Files.readSymbolicLink(handle).toString();
        } catch (java.nio.file.NoSuchFileException closedMeanwhile) {
            return "";
        }
    }

    private static List<String> openDeleted(StoredRelay relay) throws IOException {
        List<String> all = handles(relay);
        all.addAll(Files.readAllLines(proc(relay, "maps")));
        return all.stream()
                .filter(line -> line.contains(".cq4") && line.contains("deleted"))
                .toList();
    }

    private static Path proc(StoredRelay relay, String what) {
        return Path.of("/proc", String.valueOf(relay.process().pid()), what);
    }
}
