package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProducingSideTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final EdgeRig rig = EdgeRig.start();

    @AfterEach
    void stopWithNothingLogged() {
        rig.close();
        assertThat(rig.logged).allMatch(line -> line.startsWith("WARN line means nothing"));
    }

    private RawClient publishing(String options) throws IOException {
        RawClient client = RawClient.openDialect2(rig.port());
        client.line("PUBLISH:p?type=bytes" + options);
        assertThat(client.expect(RawClient.TEXT).text()).startsWith("READY:{\"pipe\":\"p\",\"epoch\":77,");
        return client;
    }

    private static byte[] event(long sequence, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(8 + bytes.length)
                .putLong(sequence)
                .put(bytes)
                .array();
    }

    private static void send(RawClient client, long sequence) throws IOException {
        client.frame(RawClient.BINARY, event(sequence, "e" + sequence));
    }

    private static void expectRejected(RawClient client, long sequence, ErrorCode code) throws IOException {
        assertThat(client.expect(RawClient.TEXT).text())
                .startsWith("REJECTED:" + sequence + ":{\"code\":\"" + code + "\",\"message\":\"");
    }

    private StubIntake.Taken taken(int index) {
        await().atMost(PATIENCE).until(() -> rig.intake.taken.size() > index);
        return rig.intake.taken.get(index);
    }

    @Test
    void readySaysWhereToGoOnAndEventsAreStoredInOrder() throws IOException {
        rig.pipe("p").lastSequence = 41;
        try (RawClient client = RawClient.openDialect2(rig.port())) {
            client.line("PUBLISH:p?producer=a&type=bytes");
            client.expectText("READY:{\"pipe\":\"p\",\"epoch\":77,\"last\":41,\"credit\":1024,\"creditBytes\":16777216,"
                    + "\"maxBytes\":200000,\"durability\":\"process\"}");
            send(client, 42);
            client.expectText("STORED:42");

            StubIntake.Taken event = taken(0);
            assertThat(event.pipe).isEqualTo(new PipeName("p"));
            assertThat(event.text).isEqualTo("e42");
            assertThat(event.order).isEqualTo(new EventIntake.Order.Named(new ProducerSequence("a", 42)));
        }
    }

    @Test
    void storedIsCumulativeAndSaidInOrder() throws IOException {
        rig.intake.storesAtOnce = false;
        try (RawClient client = publishing("")) {
            for (int sequence = 1; sequence <= 4; sequence++) {
                send(client, sequence);
            }
            taken(2).store();
            taken(1).store();
            taken(3).refuse(ErrorCode.BAD_EVENT);
            client.sync(); // nothing may be said before the first is stored
            taken(0).store();

            client.expectText("STORED:3");
            expectRejected(client, 4, ErrorCode.BAD_EVENT);
            rig.intake.storesAtOnce = true;
            send(client, 5);
            client.expectText("STORED:5");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ErrorCode.class,
            names = {"PIPE_FULL", "STORAGE_FULL", "PIPE_FAILED", "BUSY", "STOPPING"})
    void afterARefusalForNowNothingIsStoredUntilThatOneComesAgain(ErrorCode code) throws IOException {
        rig.intake.storesAtOnce = false;
        try (RawClient client = publishing("")) {
            send(client, 1);
            send(client, 2);
            EventIntake.Order.Unnamed order = (EventIntake.Order.Unnamed) taken(1).order;
            assertThat(order.objection()).isNull();

            taken(0).refuse(code);

            assertThat(order.objection()).isNotNull(); // at once: the one in flight behind it is not stored
            taken(1).result.completeExceptionally(order.objection());
            expectRejected(client, 1, code);
            expectRejected(client, 2, ErrorCode.OUT_OF_SEQUENCE);
            send(client, 3);
            expectRejected(client, 3, ErrorCode.OUT_OF_SEQUENCE);
            assertThat(rig.intake.taken).hasSize(2);
            rig.intake.storesAtOnce = true;
            for (int sequence = 1; sequence <= 3; sequence++) {
                send(client, sequence);
                client.expectText("STORED:" + sequence);
            }
        }
    }

    @Test
    void anEventOfWhichNothingIsStoredDoesNotPassOneThatMustComeAgain() throws IOException {
        rig.intake.storesAtOnce = false;
        try (RawClient client = publishing("")) {
            for (int sequence = 1; sequence <= 3; sequence++) {
                send(client, sequence);
            }
            taken(1).store(); // filtered
            taken(2).refuse(ErrorCode.BAD_EVENT);
            taken(0).refuse(ErrorCode.PIPE_FULL);

            expectRejected(client, 1, ErrorCode.PIPE_FULL);
            expectRejected(client, 2, ErrorCode.OUT_OF_SEQUENCE);
            expectRejected(client, 3, ErrorCode.OUT_OF_SEQUENCE);
            client.line("FINISH");
            assertThat(client.expect(RawClient.TEXT).text()).startsWith("ERROR:{\"code\":\"OUT_OF_SEQUENCE\"");
            assertThat(rig.pipe("p").finishes).hasValue(0);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {3, 1})
    void aSequenceThatIsNotTheNextOneIsRefusedAndTheNextOneIsTaken(long wrong) throws IOException {
        try (RawClient client = publishing("")) {
            send(client, 1);
            client.expectText("STORED:1");
            send(client, wrong);
            expectRejected(client, wrong, ErrorCode.OUT_OF_SEQUENCE);
            send(client, 2);
            client.expectText("STORED:2");
        }
    }

    @Test
    void moreThanTheCreditClosesTheConnection() throws IOException {
        rig.intake.storesAtOnce = false;
        try (RawClient client = publishing("")) {
            for (int sequence = 1; sequence <= 1024; sequence++) {
                send(client, sequence);
            }
            client.sync();
            send(client, 1025);

            RawClient.Frame close = client.expectClose();
            assertThat(close.closeCode()).isEqualTo(4429);
            assertThat(close.closeReason()).contains("1024");
            assertThat(rig.intake.taken).hasSize(1024);
        }
    }

    @Test
    void moreBytesThanTheCreditCloseTheConnection() throws IOException {
        rig.intake.storesAtOnce = false;
        try (RawClient client = publishing("")) {
            int fit = (int) (ProducingSide.CREDIT_BYTES / StubIntake.MAX_EVENT_BYTES);
            for (int sequence = 1; sequence <= fit + 1; sequence++) {
                client.frame(RawClient.BINARY, event(sequence, "x".repeat(StubIntake.MAX_EVENT_BYTES - 8)));
            }

            assertThat(client.expectClose().closeCode()).isEqualTo(4429);
            assertThat(rig.intake.taken).hasSize(fit);
        }
    }

    @Test
    void theNewestConnectionOfAProducersNameWins() throws IOException {
        try (RawClient older = publishing("&producer=a");
                RawClient other = publishing("&producer=b");
                RawClient newer = publishing("&producer=a")) {
            assertThat(older.expectClose().closeCode()).isEqualTo(4409);
            send(older, 1);
            send(newer, 1);

            newer.expectText("STORED:1");
            send(other, 1);
            other.expectText("STORED:1");
            assertThat(rig.intake.taken).hasSize(2);
        }
    }

    @Test
    void finishWaitsForTheEventsBeforeItAndRefusesThoseBehindIt() throws IOException {
        rig.intake.storesAtOnce = false;
        try (RawClient client = publishing("")) {
            send(client, 1);
            client.line("FINISH");
            send(client, 2);
            client.sync();
            assertThat(rig.pipe("p").finishes).hasValue(0);
            taken(0).store();

            client.expectText("STORED:1");
            expectRejected(client, 2, ErrorCode.PIPE_FINISHED);
            client.expectText("FINISHED");
            client.line("FINISH");
            client.expectText("FINISHED");
            assertThat(rig.pipe("p").finishes).hasValue(2);
        }
    }

    @Test
    void anEventMayBeAsLargeAsReadySaysAndComeInFragments() throws IOException {
        String large = "y".repeat(StubIntake.MAX_EVENT_BYTES);
        try (RawClient client = publishing("")) {
            client.frame(RawClient.BINARY, event(1, large));
            client.expectText("STORED:1");
            ByteArrayOutputStream fragments = new ByteArrayOutputStream();
            byte[] second = event(2, large);
            for (int at = 0; at < second.length; at += 10_007) {
                int end = Math.min(second.length, at + 10_007);
                byte[] part = Arrays.copyOfRange(second, at, end);
                fragments.write(RawClient.encode(
                        (end == second.length ? 0x80 : 0) | (at == 0 ? RawClient.BINARY : 0), part, true));
            }
            client.bytes(fragments.toByteArray());
            client.expectText("STORED:2");

            assertThat(taken(0).text).isEqualTo(large);
            assertThat(taken(1).text).isEqualTo(large);
            client.frame(RawClient.BINARY, event(3, "z".repeat(StubIntake.MAX_EVENT_BYTES + 70_000)));
            assertThat(client.expectClose().closeCode()).isEqualTo(1009);
        }
    }

    @Test
    void headersComeBeforeTheSourceBytes() throws IOException {
        byte[] json = "{\"k\":\"v\"}".getBytes(StandardCharsets.UTF_8);
        try (RawClient client = publishing("&headers=1")) {
            client.frame(
                    RawClient.BINARY,
                    ByteBuffer.allocate(12 + json.length + 2)
                            .putLong(1)
                            .putInt(json.length)
                            .put(json)
                            .put((byte) 'h')
                            .put((byte) 'i')
                            .array());
            client.expectText("STORED:1");

            assertThat(taken(0).headers).isEqualTo(Map.of("k", "v"));
            assertThat(taken(0).text).isEqualTo("hi");
        }
    }

    @Test
    void aFrameThatIsNoEventIsABadLineAndTheConnectionStays() throws IOException {
        try (RawClient client = RawClient.openDialect2(rig.port())) {
            send(client, 1);
            assertThat(client.expect(RawClient.TEXT).text()).startsWith("ERROR:{\"code\":\"BAD_LINE\"");
        }
        try (RawClient client = publishing("")) {
            for (byte[] frame : new byte[][] {{}, {1, 2, 3}, event(0, ""), event(-1, "x")}) {
                client.frame(RawClient.BINARY, frame);
                assertThat(client.expect(RawClient.TEXT).text()).startsWith("ERROR:{\"code\":\"BAD_LINE\"");
            }
            send(client, 1);
            client.expectText("STORED:1");
        }
    }

    @Test
    void anUnknownSourceTypeOrAFailedPipeIsTold() throws IOException {
        try (RawClient client = RawClient.openDialect2(rig.port())) {
            client.line("PUBLISH:p?type=oops");
            assertThat(client.expect(RawClient.TEXT).text())
                    .startsWith("ERROR:{\"code\":\"NO_SERIALIZER\"")
                    .contains("[bytes]");
            client.line("PUBLISH:p");
            assertThat(client.expect(RawClient.TEXT).text()).startsWith("ERROR:{\"code\":\"BAD_OPTION\"");
            rig.pipe("p").state = "FAILED";
            client.line("PUBLISH:p?type=bytes");
            assertThat(client.expect(RawClient.TEXT).text())
                    .startsWith("ERROR:{\"code\":\"PIPE_FAILED\"")
                    .contains("its disk is gone");
            assertThat(client.expectClose().closeCode()).isEqualTo(4500);
        }
    }

    @Test
    void oneConnectionConsumesAndPublishes() throws IOException {
        try (RawClient client = publishing("")) {
            client.line("PUBLISH:q?type=bytes");
            assertThat(client.expect(RawClient.TEXT).text()).startsWith("ERROR:{\"code\":\"BAD_LINE\"");
            client.line("BIND:p");
            assertThat(client.expect(RawClient.TEXT).text()).startsWith("READY:{\"pipe\":\"p\",\"subscription\"");
            send(client, 1);
            client.expectText("STORED:1");
            client.line("ACK:5");
            client.sync();

            assertThat(rig.pipe("p").link().acks).containsExactly(5L);
        }
    }
}
