package io.tabletrelay.core.http;

import static io.tabletrelay.core.http.HttpFixture.MAX_REQUEST_BYTES;
import static io.tabletrelay.core.http.HttpFixture.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class BodiesOverHttpTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final HttpFixture http = new HttpFixture();

    @AfterEach
    void close() {
        http.close();
    }

    @Test
    void aCompressedBodyIsRefused() {
        HttpResponse<String> response = http.send(HttpRequest.newBuilder(http.uri("/v1/pipes/p/events?type=json"))
                .header("Content-Encoding", "gzip")
                .POST(BodyPublishers.ofString("{}")));

        assertThat(response.statusCode()).isEqualTo(400);
    }

    @Test
    void anEmptyBodyIsTheSerializersBusiness() {
        assertThat(http.post("/v1/pipes/plant/events?type=json", "").statusCode())
                .isEqualTo(200);

        assertThat(http.published.get(0).bytes()).isEmpty();
    }

    @Test
    void theLargestBodyFitsAndOneByteMoreDoesNot() {
        String largest = "x".repeat(MAX_REQUEST_BYTES);

        assertThat(http.post("/v1/pipes/plant/events?type=json", largest).statusCode())
                .isEqualTo(200);
        HttpResponse<String> tooLarge = http.post("/v1/pipes/plant/events?type=json", largest + "x");

        assertThat(tooLarge.statusCode()).isEqualTo(413);
        assertThat(json(tooLarge).get("code").asText()).isEqualTo("TOO_LARGE");
        assertThat(http.published)
                .singleElement()
                .satisfies(one -> assertThat(one.bytes()).isEqualTo(largest));
    }

    @ParameterizedTest
    @ValueSource(ints = {MAX_REQUEST_BYTES + 1, 150_000, 2 * MAX_REQUEST_BYTES})
    void aChunkedBodyOverTheLimitIsTooLarge(int bytes) {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(http.uri("/v1/pipes/p/events?type=json")).POST(chunked(bytes)));

        assertThat(response.statusCode()).isEqualTo(413);
        assertThat(http.published).isEmpty();
    }

    @Test
    void aChunkedBodyWithinTheLimitIsTaken() {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(http.uri("/v1/pipes/p/events?type=json")).POST(chunked(MAX_REQUEST_BYTES)));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(http.published.get(0).bytes()).hasSize(MAX_REQUEST_BYTES);
    }

    @Test
    void aClientThatAsksBeforeItSendsIsToldAtOnce() throws IOException {
        String answer = raw(head("/v1/pipes/p/events?type=json", "Expect: 100-continue", "Content-Length: 100000000"));

        assertThat(answer).startsWith("HTTP/1.1 413 ");
    }

    @Test
    void anEndlessBodyIsCutOff() throws IOException {
        try (Socket socket = connect()) {
            OutputStream out = socket.getOutputStream();
            send(socket, head("/v1/pipes/p/events?type=json", "Transfer-Encoding: chunked"));
            byte[] chunk = ("2000\r\n" + "x".repeat(0x2000) + "\r\n").getBytes(StandardCharsets.US_ASCII);

            await("the relay stops reading").atMost(PATIENCE).until(() -> !accepts(out, chunk));
        }
        assertThat(http.published).isEmpty();
    }

    @Test
    void aSlowBodyHoldsUpNobodyElse() throws IOException {
        List<Socket> slow = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Socket socket = connect();
            slow.add(socket);
            send(socket, head("/v1/pipes/slow/events?type=json", "Content-Length: 4") + "ab");
        }

        assertThat(http.post("/v1/pipes/quick/events?type=json", "{}").statusCode())
                .isEqualTo(200);
        for (Socket socket : slow) {
            send(socket, "cd");
        }

        await().atMost(PATIENCE).until(() -> http.pipes.pipe("slow").stored().size() == slow.size());
        assertThat(http.pipes.pipe("slow").stored()).containsOnly("abcd");
        for (Socket socket : slow) {
            socket.close();
        }
    }

    @Test
    void aBodyThatBreaksOffIsNotPublished() throws IOException {
        try (Socket socket = connect()) {
            send(socket, head("/v1/pipes/p/events?type=json", "Content-Length: 4") + "ab");
        }

        assertThat(http.post("/v1/pipes/p/events?type=json", "whole").statusCode())
                .isEqualTo(200);
        assertThat(http.published)
                .singleElement()
                .satisfies(one -> assertThat(one.bytes()).isEqualTo("whole"));
    }

    @Test
    void aClientMayWaitForItsAppendLongerThanItMayStall() throws IOException {
        try (HttpFixture impatient = new HttpFixture(Duration.ofSeconds(2))) {
            impatient.pipes.pipe("p").hold();
            var waiting = impatient.postLater("/v1/pipes/p/events?type=json", "{}");
            await().atMost(PATIENCE).until(() -> impatient.pipes.pipe("p").heldUp() == 1);

            try (Socket stalled = new Socket(InetAddress.getLoopbackAddress(), impatient.edge.port())) {
                stalled.setSoTimeout((int) PATIENCE.toMillis());
                send(stalled, head("/v1/pipes/p/events?type=json", "Content-Length: 4") + "ab");
                String answer = new String(stalled.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(answer).startsWith("HTTP/1.1 408 ").contains("receivedBytes=2");
            }

            assertThat(waiting).isNotDone();
            impatient.pipes.pipe("p").letGo();
            assertThat(waiting.join().statusCode()).isEqualTo(200);
        }
    }

    @Test
    void bodiesBeingReadHaveABoundTogetherAndGiveTheirRoomBack() throws IOException {
        String path = "/v1/pipes/p/events?type=json";
        String most = "x".repeat(MAX_REQUEST_BYTES - 1);
        List<Socket> unfinished = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Socket socket = connect();
            unfinished.add(socket);
            send(socket, head(path, "Content-Length: " + MAX_REQUEST_BYTES) + most);
        }

        await("there is no room for one more")
                .atMost(PATIENCE)
                .until(() -> http.post(path, most).statusCode() == 429);
        for (Socket socket : unfinished) {
            socket.close();
        }

        await("there is room again")
                .atMost(PATIENCE)
                .until(() -> http.post(path, most).statusCode() == 200);
    }

    @Test
    void aClientThatLeavesBeforeItsAnswerIsNoFaultAndHoldsUpNoStop() throws IOException {
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        Logger log = (Logger) LoggerFactory.getLogger("io.tabletrelay.core.http");
        log.addAppender(logged);
        http.pipes.pipe("p").hold();
        for (int i = 0; i < 10; i++) {
            Socket socket = connect();
            send(socket, head("/v1/pipes/p/events?type=json", "Content-Length: 2") + "{}");
            int expected = i + 1;
            await().atMost(PATIENCE).until(() -> http.pipes.pipe("p").heldUp() == expected);
            socket.setSoLinger(true, 0);
            socket.close();
        }

        http.pipes.pipe("p").letGo();

        assertTimeoutPreemptively(PATIENCE, () -> http.edge.close(PATIENCE.multipliedBy(2)));
        assertThat(logged.list).isEmpty();
        log.detachAppender(logged);
    }

    private static boolean accepts(OutputStream out, byte[] bytes) {
        try {
            for (int i = 0; i < 100; i++) {
                out.write(bytes);
            }
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Of unknown length, so that it is sent in chunks. */
    private static HttpRequest.BodyPublisher chunked(int bytes) {
        return BodyPublishers.fromPublisher(
                BodyPublishers.ofByteArray("x".repeat(bytes).getBytes(StandardCharsets.UTF_8)));
    }

    private String raw(String request) throws IOException {
        try (Socket socket = connect()) {
            send(socket, request);
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), http.edge.port());
        socket.setSoTimeout((int) PATIENCE.toMillis());
        return socket;
    }

    private static String head(String path, String... headers) {
        return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + String.join("\r\n", headers) + "\r\n\r\n";
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }
}
