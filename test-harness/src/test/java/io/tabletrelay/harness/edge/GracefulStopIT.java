package io.tabletrelay.harness.edge;

import static io.tabletrelay.harness.edge.EdgeProcess.FULL;
import static io.tabletrelay.harness.edge.EdgeProcess.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.harness.RawClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A stop while clients of three kinds have unread events and go on talking, and others read nothing at all: 500 of them
 * with {@code -Pedge}.
 */
class GracefulStopIT {
    private static final int CLIENTS_PER_KIND = FULL ? 167 : 8;
    private static final int STALLED_CLIENTS = FULL ? 20 : 3;
    private static final int EVENTS = 30;
    private static final int EVENT_BYTES = 20_000;
    /** Of one client. Written faster than they are sent, lines would pile up in the clients. */
    private static final long BETWEEN_LINES_MILLIS = 5;

    /** When clients read on, the relay has said all it has to say. */
    private static final Duration READ_ON = Duration.ofMillis(800);

    private static final Duration STOPPED = Duration.ofSeconds(20);

    @TempDir
    private Path data;

    @Test
    void everyClientGetsAllThatWasSentAndTheReasonAndThePortIsFreeAtOnce() throws Exception {
        NodeClients.assumeInstalled();
        CompletableFuture<Void> readsOn = new CompletableFuture<>();
        List<Consumed> consumers = new ArrayList<>();
        List<String> arguments = new ArrayList<>(List.of("window=1000"));
        for (int i = 0; i < 3 * CLIENTS_PER_KIND; i++) {
            consumers.add(Consumed.holding("p" + i, readsOn));
            arguments.add("fill=p" + i + ":" + EVENTS + ":" + EVENT_BYTES);
        }
        arguments.add("fill=stalled:30:1000000");
        int port;
        try (EdgeProcess relay = EdgeProcess.start(data, arguments.toArray(String[]::new))) {
            port = relay.wsPort();
            List<RawClient> stalled = stalledClients(relay);
            CountDownLatch talkEnds = new CountDownLatch(1);
            CompletableFuture<Void> talk = CompletableFuture.runAsync(() -> talk(consumers, talkEnds));
            List<AutoCloseable> clients = connect(port, consumers);
            awaitAllSent(relay);

            var unused = readsOn.completeOnTimeout(null, READ_ON.toMillis(), TimeUnit.MILLISECONDS);
            int exitCode = relay.process().terminate(STOPPED);

            talkEnds.countDown();
            talk.get(60, TimeUnit.SECONDS);
            assertThat(exitCode).isEqualTo(143);
            assertThatAllGotEverythingAndTheReason(consumers);
            for (AutoCloseable each : clients) {
                each.close();
            }
            stalled.forEach(RawClient::reset);
        }
        try (EdgeProcess again = EdgeProcess.start(data, "window=1000", "ws-port=" + port);
                RawClient client = again.bind("p0")) {
            assertThat(client.next(PATIENCE).eventId()).isEqualTo(1);
        }
    }

    private static List<RawClient> stalledClients(EdgeProcess relay) throws Exception {
        List<RawClient> stalled = new ArrayList<>();
        stalled.add(relay.bind("stalled"));
        for (int i = 1; i < STALLED_CLIENTS; i++) {
            stalled.add(i % 2 == 0 ? RawClient.connect(relay.wsPort()) : RawClient.tcp(relay.wsPort()));
        }
        return stalled;
    }

    private static List<AutoCloseable> connect(int port, List<Consumed> consumers) throws Exception {
        List<AutoCloseable> clients = new ArrayList<>();
        int from = 0;
        for (ClientKind kind : ClientKind.values()) {
            clients.add(kind.connect(port, consumers.subList(from, from + CLIENTS_PER_KIND)));
            from += CLIENTS_PER_KIND;
        }
        for (Consumed consumer : consumers) {
            consumer.awaitBound();
        }
        return clients;
    }

    private static void awaitAllSent(EdgeProcess relay) {
        await("all is in flight").atMost(PATIENCE).until(() -> {
            long waiting = 0;
            for (int i = 0; i < 3 * CLIENTS_PER_KIND; i++) {
                waiting += EVENTS - relay.status("p" + i).path("inFlight").asLong();
            }
            return waiting == 0;
        });
    }

    /** Lines on their way when a server closes its socket are what makes a reset of a close. */
    private static void talk(List<Consumed> consumers, CountDownLatch ends) {
        try {
            while (!ends.await(BETWEEN_LINES_MILLIS, TimeUnit.MILLISECONDS)) {
                consumers.forEach(consumer -> consumer.send("ACK:999999"));
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertThatAllGotEverythingAndTheReason(List<Consumed> consumers) {
        List<String> wrong = consumers.stream()
                .flatMap(consumer -> {
                    String ended;
                    try {
                        ended = "closed " + consumer.awaitCloseCode();
                    } catch (Exception e) {
                        ended = e.toString();
                    }
                    int got = consumer.digests().size();
                    return ended.equals("closed 1012") && got == EVENTS
                            ? Stream.of()
                            : Stream.of(consumer.pipe() + ": " + got + " events, " + ended);
                })
                .toList();
        System.out.printf("closed: clients=%d, not as it should be: %s%n", consumers.size(), wrong);
        assertThat(wrong).isEmpty();
    }
}
