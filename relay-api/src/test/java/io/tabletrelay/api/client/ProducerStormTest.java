package io.tabletrelay.api.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.PipeName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A relay that loses connections, answers and patience at random, but keeps what it stored. */
@Timeout(120)
class ProducerStormTest {
    private static final int CREDIT = 5;
    private static final int EVENTS = 400;

    private final List<Integer> stored = new ArrayList<>();
    private long last;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void everyEventIsStoredOnceAndInOrder(long seed) throws Exception {
        try (ScriptedServer server = new ScriptedServer();
                RelayProducer producer = RelayProducer.builder(server.address(), new PipeName("p"))
                        .name("storm")
                        .unanswered(50, 1 << 20)
                        .start()) {
            Thread relay = ClientLoop.daemon(() -> serve(server, new Random(seed)), "storm");
            relay.start();

            List<CompletableFuture<Stored>> futures = new ArrayList<>();
            for (int i = 0; i < EVENTS; i++) {
                futures.add(producer.publish(ByteBuffer.allocate(4).putInt(i).array()));
            }
            producer.flush().get(100, TimeUnit.SECONDS);

            assertThat(futures).allMatch(future -> future.isDone() && !future.isCompletedExceptionally());
            List<Integer> expected = new ArrayList<>();
            for (int i = 0; i < EVENTS; i++) {
                expected.add(i);
            }
            synchronized (stored) {
                assertThat(stored).as("seed=" + seed).isEqualTo(expected);
            }
        }
    }

    private void serve(ScriptedServer server, Random random) {
        try {
            while (true) {
                ScriptedPeer peer = server.next();
                if (peer.line().startsWith("PUBLISH:")) {
                    peer.send(Records.readyToPublish(last, CREDIT));
                    serve(peer, random);
                }
            }
        } catch (IOException | InterruptedException | AssertionError e) {
            // the test is over
        }
    }

    private void serve(ScriptedPeer peer, Random random) throws IOException, InterruptedException {
        long told = last;
        int unanswered = 0;
        while (true) {
            ScriptedPeer.Message message = peer.next(unanswered == 0 ? 20_000 : 5);
            if (message == null) {
                if (unanswered > 0) {
                    peer.send("STORED:" + last);
                }
                unanswered = 0;
                told = last;
                continue;
            }
            if (message.frame() == null) {
                return;
            }
            long sequence = message.bytes().getLong();
            unanswered++;
            if (unanswered > CREDIT) {
                peer.close(4409, "credit exceeded");
            } else if (sequence > last + 1) {
                peer.send("REJECTED:" + sequence + ":{\"code\":\"OUT_OF_SEQUENCE\",\"message\":\"\"}");
                unanswered--;
            } else if (random.nextInt(100) == 0) {
                peer.send("REJECTED:" + sequence + ":{\"code\":\"PIPE_FULL\",\"message\":\"\"}");
                unanswered--;
            } else if (sequence == last + 1) {
                synchronized (stored) {
                    stored.add(message.bytes().getInt());
                }
                last = sequence;
            }
            if (random.nextInt(3) == 0 && told < last) {
                peer.send("STORED:" + last);
                unanswered = 0;
                told = last;
            }
            if (random.nextInt(60) == 0) {
                peer.reset();
                return;
            }
        }
    }
}
