package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RawClientTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    private ScriptedRelay relay;
    private RawClient client;

    @BeforeEach
    void connect() throws Exception {
        relay = new ScriptedRelay();
        client = RawClient.connect(relay.getPort());
        await().atMost(LONG).until(() -> relay.getConnections().size() == 1);
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        relay.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 125, 126, 65_535, 65_536, 200_000})
    void sendsAndReadsFramesOfEveryLengthForm(int length) throws IOException {
        String text = "x".repeat(length);

        client.sendText("ECHO:" + text);

        RawClient.Frame frame = client.next(LONG);
        assertThat(frame.opcode()).isEqualTo(RawClient.TEXT);
        assertThat(frame.last()).isTrue();
        assertThat(frame.text()).isEqualTo(text);
    }

    @Test
    void takesADataFrameApart() throws IOException {
        relay.push(Long.MAX_VALUE, "payload");

        RawClient.Frame frame = client.next(LONG);

        assertThat(frame.eventId()).isEqualTo(Long.MAX_VALUE);
        assertThat(StandardCharsets.UTF_8.decode(frame.event()).toString()).isEqualTo("payload");
    }

    @Test
    void readsNothingAndAnswersNoPingUnlessItIsToldTo() throws IOException {
        relay.ping();
        client.sendText("first");
        await().atMost(LONG).until(() -> relay.lines().equals(List.of("first")));

        assertThat(client.read(Duration.ofMillis(200))).isNull();

        await().atMost(LONG).until(() -> relay.lines().contains("pong"));
    }

    @Test
    void leavesPingsUnansweredWhenItIsToldTo() throws IOException {
        client.answerPings(false);
        relay.ping();

        RawClient.Frame ping = client.next(LONG);
        client.sendText("ECHO:behind");

        assertThat(ping.opcode()).isEqualTo(RawClient.PING);
        assertThat(client.next(LONG).text()).isEqualTo("behind");
        assertThat(relay.lines()).doesNotContain("pong");
    }

    @Test
    void aFrameThatComesInPiecesIsReadWhole() throws IOException {
        client.sendFrame(RawClient.TEXT, false, true, "ECHO:a".getBytes(StandardCharsets.UTF_8));
        client.sendFrame(0, true, true, "b".getBytes(StandardCharsets.UTF_8));

        assertThat(client.next(LONG).text()).isEqualTo("ab");
    }

    @Test
    void halfAFrameIsNotAFrame() throws IOException {
        client.sendHalfFrame(RawClient.TEXT, "ECHO:never".getBytes(StandardCharsets.UTF_8));

        assertThat(client.read(Duration.ofMillis(300))).isNull();
        assertThat(relay.lines()).isEmpty();
    }

    @Test
    void aResetEndsTheConnectionWithoutACloseFrame() {
        client.reset();

        await().atMost(LONG).untilAsserted(() -> assertThat(relay.ends()).containsExactly("1006"));
    }

    @Test
    void saysWhenTheOtherSideHasEndedTheConnection() {
        relay.getConnections().forEach(socket -> socket.closeConnection(1006, "gone"));

        assertThatThrownBy(() -> client.read(LONG)).isInstanceOf(EOFException.class);
    }
}
