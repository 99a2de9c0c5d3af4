package io.tabletrelay.harness.client;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.client.RelayClosedException;
import io.tabletrelay.api.client.RelayConsumer;
import io.tabletrelay.api.client.RelayProducer;
import io.tabletrelay.api.client.Stored;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class JavaClientTest {
    private static final PipeName PIPE = new PipeName("a pipe/ä");

    @TempDir
    Path data;

    private static byte[] number(long number) {
        return ByteBuffer.allocate(8).putLong(number).array();
    }

    private static RelayProducer.Builder producer(LiveRelay relay) {
        return RelayProducer.builder(relay.address(), PIPE).name("numbers").type("bytes");
    }

    @Test
    void aHundredThousandEventsGoThroughInOrder() throws Exception {
        AtomicLong next = new AtomicLong(1);
        List<String> wrong = new CopyOnWriteArrayList<>();
        try (LiveRelay relay = LiveRelay.start(data, 0);
                RelayProducer producer = producer(relay).start();
                RelayConsumer consumer = RelayConsumer.builder(relay.address(), PIPE)
                        .onBatch(
                                256,
                                events -> events.forEach(event -> {
                                    if (event.payload().getLong() != next.getAndIncrement()) {
                                        wrong.add(event.toString());
                                    }
                                }))
                        .start()) {
            for (long number = 1; number <= 100_000; number++) {
                var unused = producer.publish(number(number));
            }
            producer.flush().get(60, SECONDS);

            await().atMost(60, SECONDS).until(() -> next.get() > 100_000);
            assertThat(wrong).isEmpty();
            assertThat(consumer.completion()).isNotDone();
        }
    }

    @Test
    void aRelayThatIsRestartedInBetweenLosesAndRepeatsNothing() throws Exception {
        Map<Long, Long> handled = new ConcurrentSkipListMap<>();
        LiveRelay first = LiveRelay.start(data, 0);
        try (RelayProducer producer = producer(first).start();
                RelayConsumer consumer = RelayConsumer.builder(first.address(), PIPE)
                        .onEvent(
                                event -> handled.put(event.id(), event.payload().getLong()))
                        .start()) {
            publish(producer, 1, 2_000);
            first.close();
            List<CompletableFuture<Stored>> meanwhile = publish(producer, 2_001, 2_100);
            try (LiveRelay second = LiveRelay.start(data, first.wsPort())) {
                publish(producer, 2_101, 5_000);
                producer.flush().get(60, SECONDS);

                assertThat(second.wsPort()).isEqualTo(first.wsPort());
                assertThat(meanwhile.get(99).get().sequence()).isEqualTo(2_100);
                await().atMost(60, SECONDS).until(() -> handled.containsValue(5_000L));
                assertThat(List.copyOf(handled.values()))
                        .hasSize(5_000)
                        .isSorted()
                        .doesNotHaveDuplicates();
                assertThat(consumer.completion()).isNotDone();
            }
        }
    }

    private static List<CompletableFuture<Stored>> publish(RelayProducer producer, int from, int to)
            throws InterruptedException {
        List<CompletableFuture<Stored>> stored = new ArrayList<>();
        for (int number = from; number <= to; number++) {
            stored.add(producer.publish(number(number)));
        }
        return stored;
    }

    @Test
    void aProducerGoesOnWhereTheLastOneOfItsNameWas() throws Exception {
        try (LiveRelay relay = LiveRelay.start(data, 0)) {
            try (RelayProducer before = producer(relay).start()) {
                assertThat(before.publish(number(1)).get(30, SECONDS).sequence())
                        .isEqualTo(1);
            }
            try (RelayProducer after = producer(relay).start()) {
                assertThat(after.publish(number(2)).get(30, SECONDS).sequence()).isEqualTo(2);
            }
        }
    }

    @Test
    void anEventThatIsRefusedForGoodLetsTheNextFollow() throws Exception {
        try (LiveRelay relay = LiveRelay.start(data, 0);
                RelayProducer producer = producer(relay).type("json").start()) {
            CompletableFuture<Stored> bad = producer.publish(new byte[] {'{'});
            CompletableFuture<Stored> good = producer.publish(new byte[] {'{', '}'});

            assertThat(good.get(30, SECONDS).sequence()).isEqualTo(2);
            assertThatThrownBy(() -> bad.get(30, SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_EVENT));
        }
    }

    @Test
    void theNewestProducerOfANameWins() throws Exception {
        try (LiveRelay relay = LiveRelay.start(data, 0);
                RelayProducer older = producer(relay).start()) {
            older.ready().get(30, SECONDS);
            try (RelayProducer newer = producer(relay).start()) {
                newer.ready().get(30, SECONDS);

                assertThatThrownBy(() -> older.completion().get(30, SECONDS))
                        .cause()
                        .isInstanceOfSatisfying(
                                RelayClosedException.class,
                                e -> assertThat(e.closeCode()).isEqualTo(4409));
            }
        }
    }
}
