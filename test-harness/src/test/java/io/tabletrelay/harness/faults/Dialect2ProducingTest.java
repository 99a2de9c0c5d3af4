package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.TestRelay.PATIENCE;
import static io.tabletrelay.harness.faults.TestRelay.window;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.harness.Dialect2Client;
import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.RelayProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A producer of dialect 2 on a whole relay. */
class Dialect2ProducingTest {
    private static final String PIPE = "p";
    private static final String NAMED = PIPE + "?type=bytes&producer=x";
    private static final Duration READY = Duration.ofSeconds(60);

    @TempDir
    private Path data;

    @Test
    void aProducerThatGoesOnBehindLastStoresEachEventOnceOverKills() throws Exception {
        int kills = 4;
        Random random = new Random(7);
        long sent = 0;
        long stored = 0;
        for (int run = 0; run < kills; run++) {
            try (RelayProcess relay = RelayProcess.serve(data)) {
                relay.awaitReady(READY);
                try (Dialect2Client producer = Dialect2Client.connect(relay.wsPort())) {
                    long last = producer.ask("PUBLISH:" + NAMED).path("last").asLong(-1);
                    assertThat(last).isBetween(stored, sent);
                    int killAfter = 500 + random.nextInt(2_000);
                    sent = last;
                    stored = last;
                    while (sent < last + killAfter) {
                        producer.publish(++sent, number(sent));
                        if (sent - stored >= 1_000) {
                            stored = storedUpTo(producer.nextLine());
                        }
                    }
                    relay.kill();
                }
            }
        }

        try (RelayProcess relay = RelayProcess.serve(data)) {
            relay.awaitReady(READY);
            try (Dialect2Client producer = Dialect2Client.connect(relay.wsPort());
                    Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE)) {
                long last = producer.ask("PUBLISH:" + NAMED).path("last").asLong(-1);
                assertThat(last).isBetween(stored, sent).isPositive();
                producer.publish(last, number(last)); // a repeat
                assertThat(producer.nextLine()).isEqualTo("STORED:" + last);
                producer.publish(last + 1, number(last + 1));
                assertThat(producer.nextLine()).isEqualTo("STORED:" + (last + 1));

                for (long n = 1; n <= last + 1; n++) {
                    Dialect2Client.Received event = client.next();
                    assertThat(event.payload().getLong(0)).isEqualTo(n);
                    client.line("ACKTO:" + event.id());
                }
                assertThat(client.within(Duration.ofMillis(200))).isNull();
            }
        }
    }

    @Test
    void theNewestConnectionOfAProducerWins() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client old = Dialect2Client.publishing(relay.wsPort(), NAMED);
                Dialect2Client other = Dialect2Client.publishing(relay.wsPort(), PIPE + "?type=bytes&producer=y")) {
            old.publish(1, number(1));
            assertThat(old.nextLine()).isEqualTo("STORED:1");

            try (Dialect2Client next = Dialect2Client.connect(relay.wsPort())) {
                assertThat(next.ask("PUBLISH:" + NAMED).path("last").asLong()).isEqualTo(1);
                assertThat(old.nextCloseCode()).isEqualTo(4409);
                old.publish(2, number(99)); // too late
                next.publish(2, number(2));
                assertThat(next.nextLine()).isEqualTo("STORED:2");
                other.publish(1, number(3));
                assertThat(other.nextLine()).isEqualTo("STORED:1");
            }
            relay.awaitStatus(PIPE, "lastId", 3);
        }
    }

    @Test
    void aPipeThatIsFullLeavesNoHoleInItsStream() throws Exception {
        int size = 200 << 10;
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            relay.http().createPipe(PIPE, Map.of("max-bytes", "4MiB", "when-full", "reject"));
            try (Dialect2Client producer = Dialect2Client.publishing(relay.wsPort(), NAMED)) {
                long sequence = 0;
                String answer;
                do {
                    producer.publish(++sequence, sized(sequence, size));
                    answer = producer.nextLine();
                } while (answer.startsWith("STORED:"));
                assertThat(answer).startsWith("REJECTED:" + sequence + ":").contains("PIPE_FULL");
                producer.publish(sequence + 1, number(sequence + 1));
                assertThat(producer.nextLine())
                        .startsWith("REJECTED:" + (sequence + 1) + ":")
                        .contains("OUT_OF_SEQUENCE");
                producer.line("FINISH");
                assertThat(producer.nextLine()).contains("OUT_OF_SEQUENCE");

                try (Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE)) {
                    for (long n = 1; n < sequence; n++) {
                        assertThat(client.next().payload().getLong(0)).isEqualTo(n);
                    }
                    client.line("ACKTO:" + (sequence - 1));
                    long due = sequence;
                    await().atMost(PATIENCE).until(() -> {
                        producer.publish(due, number(due));
                        return producer.nextLine().equals("STORED:" + due);
                    });
                    producer.publish(sequence + 1, number(sequence + 1));
                    assertThat(producer.nextLine()).isEqualTo("STORED:" + (sequence + 1));
                    assertThat(client.next().payload().getLong(0)).isEqualTo(sequence);
                    assertThat(client.next().payload().getLong(0)).isEqualTo(sequence + 1);
                    producer.line("FINISH");
                    assertThat(producer.nextLine()).isEqualTo("FINISHED");
                    producer.publish(sequence + 2, number(0));
                    assertThat(producer.nextLine()).contains("PIPE_FINISHED");
                }
            }
        }
    }

    @Test
    void whatIsRefusedForGoodLetsTheNextFollowForNamedProducersAndOthers() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            for (String producer : new String[] {"&producer=x", ""}) {
                String pipe = "p" + producer.length();
                try (Dialect2Client client =
                        Dialect2Client.publishing(relay.wsPort(), pipe + "?type=json" + producer)) {
                    client.publish(1, "{\"a\":}".getBytes(StandardCharsets.UTF_8));
                    client.publish(2, "{\"a\":2}".getBytes(StandardCharsets.UTF_8));

                    String refused = client.nextLine();
                    assertThat(refused).startsWith("REJECTED:1:").contains("BAD_EVENT");
                    assertThat(client.nextLine()).isEqualTo("STORED:2");
                    client.publish(4, "{}".getBytes(StandardCharsets.UTF_8));
                    assertThat(client.nextLine()).startsWith("REJECTED:4:").contains("OUT_OF_SEQUENCE");
                    client.publish(3, "{\"a\":3}".getBytes(StandardCharsets.UTF_8));
                    assertThat(client.nextLine()).isEqualTo("STORED:3");
                }
                try (Dialect2Client consumer = Dialect2Client.bound(relay.wsPort(), pipe)) {
                    assertThat(consumer.next().text()).contains("2");
                    assertThat(consumer.next().text()).contains("3");
                }
            }
        }
    }

    @Test
    void moreThanTheCreditIsToldAndCloses() throws Exception {
        try (RelayProcess relay = RelayProcess.serve(data)) {
            relay.awaitReady(READY);
            try (Dialect2Client producer = Dialect2Client.connect(relay.wsPort())) {
                JsonNode ready = producer.ask("PUBLISH:" + NAMED);
                int credit = ready.path("credit").asInt();
                byte[] one = maskedFrame(1);
                ByteBuffer many = ByteBuffer.allocate(50 * credit * one.length);
                for (long sequence = 1; sequence <= 50L * credit; sequence++) {
                    many.put(maskedFrame(sequence));
                }
                try {
                    producer.raw().sendBytes(many.array());
                } catch (IOException e) {
                    // it was closed meanwhile
                }

                assertThat(credit).isPositive();
                assertThat(producer.nextCloseCode()).isEqualTo(4429);
            }
            try (Dialect2Client again = Dialect2Client.connect(relay.wsPort())) {
                long last = again.ask("PUBLISH:" + NAMED).path("last").asLong(-1);
                again.publish(last + 1, number(last + 1));
                assertThat(again.nextLine()).isEqualTo("STORED:" + (last + 1));
            }
        }
    }

    @Test
    void eventsInFragmentsAndOfAMegabyteArriveWholeAndOneThatIsTooLargeIsRefused() throws Exception {
        byte[] large = sized(2, 1 << 20);
        new Random(3).nextBytes(large);
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client client = Dialect2Client.bound(relay.wsPort(), PIPE);
                Dialect2Client producer = Dialect2Client.connect(relay.wsPort())) {
            long maxBytes = producer.ask("PUBLISH:" + NAMED).path("maxBytes").asLong();
            sendInFragments(producer.raw(), Dialect2Client.frame(1, number(1)), 3);
            sendInFragments(producer.raw(), Dialect2Client.frame(2, large), 60_000);
            producer.publish(3, large);
            producer.publish(4, new byte[(int) maxBytes + 1]);
            producer.publish(5, new byte[0]);

            assertThat(client.next().payload().getLong(0)).isEqualTo(1);
            assertThat(client.next().payload()).isEqualTo(ByteBuffer.wrap(large));
            assertThat(client.next().payload()).isEqualTo(ByteBuffer.wrap(large));
            assertThat(maxBytes).isGreaterThanOrEqualTo(1 << 20);
            String answer = "";
            while (!answer.startsWith("REJECTED")) {
                answer = producer.nextLine();
            }
            assertThat(answer).startsWith("REJECTED:4:").contains("TOO_LARGE");
            assertThat(producer.nextLine()).contains(":5");
            producer.publish(6, number(6));
            assertThat(producer.nextLine()).isEqualTo("STORED:6");
        }
    }

    @Test
    void frameWithoutAPublishOrTooShortChangesNothing() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client producer = Dialect2Client.connect(relay.wsPort())) {
            producer.publish(1, number(1));
            assertThat(producer.nextLine()).contains("BAD_LINE");
            producer.ask("PUBLISH:" + NAMED);
            producer.raw().sendFrame(RawClient.BINARY, true, true, new byte[7]);
            assertThat(producer.nextLine()).contains("BAD_LINE");
            producer.publish(0, number(1));
            assertThat(producer.nextLine()).containsAnyOf("BAD_LINE", "OUT_OF_SEQUENCE");
            producer.publish(1, number(1));

            assertThat(producer.nextLine()).isEqualTo("STORED:1");
        }
    }

    /** B12. */
    @Test
    void anEventThatWasCutOffIsNotStoredAndIsAskedForAgain() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10))) {
            for (boolean fragment : new boolean[] {true, false}) {
                try (Dialect2Client producer = Dialect2Client.publishing(relay.wsPort(), NAMED)) {
                    byte[] frame = Dialect2Client.frame(1, number(1));
                    if (fragment) {
                        producer.raw().sendFrame(RawClient.BINARY, false, true, frame);
                    } else {
                        producer.raw().sendHalfFrame(RawClient.BINARY, frame);
                    }
                }
            }

            try (Dialect2Client producer = Dialect2Client.connect(relay.wsPort())) {
                assertThat(producer.ask("PUBLISH:" + NAMED).path("last").asLong(-1))
                        .isZero();
                producer.publish(1, number(1));
                assertThat(producer.nextLine()).isEqualTo("STORED:1");
            }
            relay.awaitStatus(PIPE, "lastId", 1);
        }
    }

    @Test
    void theReasonsOfAPublishThatCannotBeAreTold() throws Exception {
        try (TestRelay relay = TestRelay.start(data, window(10));
                Dialect2Client producer = Dialect2Client.connect(relay.wsPort())) {
            producer.line("PUBLISH:" + PIPE + "?type=none");
            assertThat(producer.nextLine()).startsWith("ERROR:").contains("none");
            producer.line("PUBLISH:" + PIPE);
            assertThat(producer.nextLine()).startsWith("ERROR:");
            producer.line("PUBLISH:" + PIPE + "?type=bytes&nonsense=1");
            assertThat(producer.nextLine()).contains("BAD_OPTION");
            producer.ask("PUBLISH:" + NAMED);
            producer.line("PUBLISH:" + NAMED);
            assertThat(producer.nextLine()).contains("BAD_LINE");
            producer.publish(1, number(1));
            assertThat(producer.nextLine()).isEqualTo("STORED:1");
        }
    }

    private static void sendInFragments(RawClient raw, byte[] message, int size) throws IOException {
        for (int from = 0; from < message.length; from += size) {
            int to = Math.min(message.length, from + size);
            raw.sendFrame(
                    from == 0 ? RawClient.BINARY : 0,
                    to == message.length,
                    true,
                    Arrays.copyOfRange(message, from, to));
        }
    }

    private static byte[] maskedFrame(long sequence) {
        byte[] content = Dialect2Client.frame(sequence, number(sequence));
        return ByteBuffer.allocate(6 + content.length)
                .put((byte) 0x82)
                .put((byte) (0x80 | content.length))
                .putInt(0) // a mask that changes nothing
                .put(content)
                .array();
    }

    private static byte[] number(long number) {
        return sized(number, 8);
    }

    private static byte[] sized(long number, int bytes) {
        return ByteBuffer.allocate(bytes).putLong(number).array();
    }

    private static long storedUpTo(String line) {
        assertThat(line).startsWith("STORED:");
        return Long.parseLong(line.substring("STORED:".length()));
    }
}
