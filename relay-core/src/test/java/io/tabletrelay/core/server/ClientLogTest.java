package io.tabletrelay.core.server;

import static io.tabletrelay.core.server.ClientLog.LINES_PER_SPAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

class ClientLogTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int CLIENTS = 200;

    private final EdgeRig rig = EdgeRig.start();

    @AfterEach
    void stop() {
        rig.close();
    }

    @Test
    void whatWasLeftOutIsSaidBeforeTheNextLine() {
        AtomicLong nanoTime = new AtomicLong();
        ClientLog log = new ClientLog(nanoTime::get);
        for (int i = 0; i < LINES_PER_SPAN + 7; i++) {
            log.line(Level.WARN, "line {}", i);
        }
        int written = rig.logged.size();

        nanoTime.addAndGet(Duration.ofSeconds(10).toNanos());
        log.line(Level.INFO, "the next one");

        assertThat(written).isEqualTo(LINES_PER_SPAN);
        assertThat(rig.logged.subList(written, rig.logged.size()))
                .containsExactly(
                        "WARN lines about clients were left out, there were too many: lines=7", "INFO the next one");
    }

    @Test
    void faultsOfTheRelayThatWereLeftOutAreCountedForThemselves() {
        AtomicLong nanoTime = new AtomicLong();
        ClientLog log = new ClientLog(nanoTime::get);
        for (int i = 0; i < LINES_PER_SPAN + 3; i++) {
            log.fault("fault {}", i);
        }
        int written = rig.logged.size();

        nanoTime.addAndGet(Duration.ofSeconds(10).toNanos());
        log.line(Level.INFO, "a client's line");
        log.fault("the next one");

        assertThat(written).isEqualTo(LINES_PER_SPAN);
        assertThat(rig.logged.subList(written, rig.logged.size()))
                .containsExactly(
                        "INFO a client's line",
                        "ERROR faults of the relay were left out, there were too many: lines=3",
                        "ERROR the next one");
    }

    @Test
    void aFaultOfTheRelayIsLoggedHoweverMuchClientsHaveCausedToBeLogged() throws IOException {
        rig.pipe("broken").onBind(sink -> {
            throw new IllegalStateException("broken");
        });
        for (int i = 0; i < 2 * LINES_PER_SPAN; i++) {
            try (RawClient client = RawClient.open(rig.port())) {
                client.line("what?");
                client.sync();
            }
        }

        try (RawClient client = RawClient.open(rig.port())) {
            client.line("BIND:broken");
            assertThat(client.expectClose().closeCode()).isEqualTo(1011);
        }

        assertThat(rig.logged)
                .filteredOn(line -> line.startsWith("ERROR"))
                .singleElement()
                .asString()
                .contains("connection ends by a fault of the relay");
    }

    @Test
    void clientsThatComeAgainWithNonsenseDoNotFillTheLog() throws IOException {
        for (int i = 0; i < CLIENTS; i++) {
            try (RawClient client = RawClient.open(rig.port())) {
                client.line("what?");
                client.sync();
            }
        }

        assertThat(rig.counts.malformedLines).hasValue(CLIENTS);
        assertThat(rig.logged).hasSizeBetween(1, 3 * LINES_PER_SPAN);
    }

    @Test
    void aClientWhoseBindFailsAgainAndAgainDoesNotFillTheLog() throws IOException {
        try (RawClient client = RawClient.open(rig.port())) {
            for (int i = 0; i < 2_000; i++) {
                client.line("BIND:failed");
            }
            await().atMost(PATIENCE).until(() -> rig.counts.bindsFailed.get() == 2_000);
            client.sync();
        }

        assertThat(rig.logged).hasSizeBetween(1, 3 * LINES_PER_SPAN);
    }
}
