package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.core.config.ServerConfig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SocketLimitsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final ServerConfig SHORT_HANDSHAKE = new ServerConfig(
            "127.0.0.1",
            0,
            100,
            Duration.ofMillis(500),
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            1 << 20,
            Duration.ofSeconds(60));

    private static final ServerConfig ROOMY = new ServerConfig(
            "127.0.0.1",
            0,
            2_000,
            Duration.ofMillis(500),
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            1 << 20,
            Duration.ofSeconds(60));

    private final EdgeRig rig = new EdgeRig(SHORT_HANDSHAKE);

    @AfterEach
    void stopWithNothingLogged() {
        rig.close();
        assertThat(rig.logged).isEmpty();
    }

    @Test
    void socketsThatDoNotBecomeWebSocketsAreClosedInTime() throws IOException {
        List<RawClient> silent = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            RawClient client = RawClient.tcp(rig.port());
            if (i % 2 == 0) {
                client.bytes("GET / HTTP/1.1\r\nHost:".getBytes(StandardCharsets.US_ASCII));
            }
            silent.add(client);
        }
        try (RawClient good = RawClient.bound(rig.port(), "p")) {
            for (RawClient client : silent) {
                assertThat(client.atEnd()).isTrue();
            }
            good.sync();
            await().atMost(PATIENCE).until(() -> rig.server.connections() == 1);
        }
    }

    @Test
    void aThousandSilentSocketsAreClosedInTime() throws IOException {
        List<RawClient> silent = new ArrayList<>();
        try (EdgeRig roomy = new EdgeRig(ROOMY);
                RawClient good = RawClient.bound(roomy.port(), "p")) {
            for (int i = 0; i < 1_000; i++) {
                silent.add(RawClient.tcp(roomy.port()));
            }
            for (RawClient client : silent) {
                assertThat(client.atEnd()).isTrue();
            }

            good.sync();
            await().atMost(PATIENCE).until(() -> roomy.server.connections() == 1);
        } finally {
            for (RawClient client : silent) {
                client.close();
            }
        }
    }

    @Test
    void aPeerThatDoesNotAnswerOurCloseIsCutInTime() throws IOException {
        try (RawClient client = RawClient.bound(rig.port(), "p")) {
            rig.pipe("p").link().sink.takenOver();

            assertThat(client.expectClose().closeCode()).isEqualTo(4409);
            assertThat(client.atEnd()).isTrue();
            await().atMost(PATIENCE).until(() -> rig.pipe("p").link().gone.get() == 1);
        }
    }

    @Test
    void noMoreSocketsThanAllowedAreKept() throws IOException {
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            clients.add(RawClient.open(rig.port()));
        }
        await().atMost(PATIENCE).until(() -> rig.server.connections() == 100);

        try (RawClient tooMany = RawClient.tcp(rig.port())) {
            assertThat(tooMany.atEnd()).isTrue();
        }
        assertThat(rig.counts.connectionsRefused).hasValue(1);
        clients.get(0).close();
        await().atMost(PATIENCE).until(() -> rig.server.connections() == 99);
        clients.set(0, RawClient.bound(rig.port(), "p"));
        for (RawClient client : clients) {
            client.sync();
            client.close();
        }
    }
}
