package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OpenFilesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void asManyConnectionsAsFitUnderHalfOfTheLimit() {
        assertThat(OpenFiles.fitting(10_000, 1_024)).isEqualTo(512);
        assertThat(OpenFiles.fitting(100, 1_024)).isEqualTo(100);
        assertThat(OpenFiles.fitting(10_000, 1)).isEqualTo(1);
        assertThat(OpenFiles.fitting(10_000, Long.MAX_VALUE)).isEqualTo(10_000);
    }

    @Test
    void moreSocketsThanThereAreHandlesLeaveThePortOpen() throws IOException {
        try (EdgeChild child = new EdgeChild(400);
                RawClient before = RawClient.bound(child.port(), "before")) {
            List<RawClient> idle = new ArrayList<>();
            for (int i = 0; i < 450; i++) {
                idle.add(RawClient.tcp(child.port()));
            }

            assertThat(idle.get(449).atEnd()).isTrue();
            assertThat(child.ask("connections")).isEqualTo("200 true");
            before.sync();
            for (RawClient client : idle) {
                client.close();
            }
            try (RawClient after = connected(child, "after")) {
                after.sync();
            }
        }
    }

    @Test
    void requestsThatNeverEndTakeLittleMemory() throws IOException {
        int requests = 2_400; // at 64 KiB each they would take more than the child has
        List<RawClient> endless = new ArrayList<>();
        try (EdgeChild child = new EdgeChild(6_000);
                RawClient before = RawClient.bound(child.port(), "before")) {
            for (int i = 0; i < requests; i++) {
                RawClient client = RawClient.tcp(child.port());
                client.bytes("GET / HTTP/1.1\r\nHost: relay\r\nX-Slow: ".getBytes(StandardCharsets.US_ASCII));
                endless.add(client);
            }

            before.sync();
            await().atMost(PATIENCE).until(() -> child.ask("connections").equals(requests + 1 + " true"));
            for (RawClient client : endless) {
                client.bytes(new byte[] {'y'});
            }
            try (RawClient after = RawClient.bound(child.port(), "after")) {
                after.sync();
            }
            before.sync();
            assertThat(child.said()).doesNotContain("OutOfMemoryError");
        } finally {
            for (RawClient client : endless) {
                client.close();
            }
        }
    }

    @Test
    void aLimitThatIsLowerThanConfiguredIsSaid() throws IOException {
        try (EdgeChild child = new EdgeChild(400)) {
            assertThat(child.said()).contains("max-connections=10000, taken=200, openFilesLimit=400");
        }
    }

    @Test
    void aPortLostForWantOfHandlesIsListenedOnAgain() throws IOException {
        try (EdgeChild child = new EdgeChild(400);
                RawClient old = RawClient.bound(child.port(), "old");
                RawClient leaving = RawClient.bound(child.port(), "leaving")) {
            assertThat(child.ask("fill")).contains("Too many open files");
            await().atMost(PATIENCE).until(() -> {
                knock(child);
                return child.ask("connections").equals("2 false");
            });
            old.sync();

            assertThat(child.ask("free")).isEqualTo("done");

            try (RawClient fresh = connected(child, "fresh")) {
                assertThat(child.ask("connections")).isEqualTo("3 true");
                leaving.reset();
                await().atMost(PATIENCE).until(() -> child.ask("connections").equals("2 true"));
                old.sync();
                assertThat(child.ask("stop")).isEqualTo("done");
                assertThat(old.expectClose().closeCode()).isEqualTo(1012);
                assertThat(fresh.expectClose().closeCode()).isEqualTo(1012);
                assertThat(child.said()).containsOnlyOnce("the WebSocket port listens no more");
            }
        }
    }

    /** Makes the port accept, for which it has no handle. */
    private static void knock(EdgeChild child) {
        try {
            RawClient.tcp(child.port()).close();
        } catch (IOException refused) {
            // that is what happens while nobody listens
        }
    }

    private static RawClient connected(EdgeChild child, String pipe) {
        return await().atMost(PATIENCE)
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(() -> RawClient.bound(child.port(), pipe), client -> true);
    }
}
