package io.tabletrelay.api.client;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.PipeName;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class IdempotentConsumerTest {
    @TempDir
    Path folder;

    private final List<Boolean> applied = new CopyOnWriteArrayList<>();

    private static RelayConsumer.Builder consumer(ScriptedServer server) {
        return RelayConsumer.builder(server.address(), new PipeName("p")).closeTimeout(Duration.ofMillis(200));
    }

    private static ScriptedPeer bound(ScriptedServer server) throws Exception {
        ScriptedPeer relay = server.next();
        relay.line();
        relay.send(Records.READY);
        return relay;
    }

    @Test
    void anEventWhoseAckIsLostWithItsProcessIsNotAppliedTwice() throws Exception {
        Ledger ledger = new Ledger(folder);
        CountDownLatch never = new CountDownLatch(1);
        try (ScriptedServer server = new ScriptedServer();
                RelayConsumer dies = consumer(server)
                        .onEvent(event -> {
                            applied.add(ledger.apply(event));
                            never.await();
                        })
                        .start()) {
            ScriptedPeer relay = bound(server);
            relay.sendFrame(Records.events(1, 1, 1));
            await().atMost(20, SECONDS).until(() -> applied.equals(List.of(true)));
            relay.reset();
            assertThat(dies.completion()).isNotDone();
        }

        try (ScriptedServer server = new ScriptedServer();
                RelayConsumer follows = consumer(server)
                        .onEvent(event -> applied.add(ledger.apply(event)))
                        .start()) {
            bound(server).sendFrame(Records.events(1, 2, 2));

            await().atMost(20, SECONDS).until(() -> applied.size() == 3);
            assertThat(applied).containsExactly(true, false, true);
            assertThat(ledger.balance()).isEqualTo("e1".length() + "e2".length());
            assertThat(follows.completion()).isNotDone();
        }
    }
}
