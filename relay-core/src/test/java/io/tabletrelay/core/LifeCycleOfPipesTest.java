package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.http.HttpEdge;
import io.tabletrelay.core.http.RelayView;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.pipe.Answer;
import io.tabletrelay.core.pipe.PipeRegistry;
import io.tabletrelay.core.store.folder.DataDirectory;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pipes on real files that are changed over HTTP and by commands. */
class LifeCycleOfPipesTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path data;

    private final HttpClient client = HttpClient.newHttpClient();
    private final RelayMetrics metrics = new RelayMetrics();
    private DataDirectory directory;
    private PipeRegistry pipes;
    private HttpEdge http;

    @BeforeEach
    void start() throws Exception {
        open();
        assertThat(publish("a").statusCode()).isEqualTo(200);
    }

    private void open() {
        directory = DataDirectory.open(data, InstantSource.system(), () -> "boot");
        DeliveryContext delivery =
                new DeliveryContext(DeliveryConfig.DEFAULT, System::nanoTime, InstantSource.system(), new Random(1));
        pipes = new PipeRegistry(directory, StoreConfig.DEFAULT, delivery, 1, 100, metrics);
        http = new HttpEdge(
                new HttpConfig("127.0.0.1", 0, 1 << 20),
                new RelayView(
                        this::append,
                        List::of,
                        pipes::glances,
                        pipes::find,
                        pipes::create,
                        pipes::delete,
                        metrics,
                        List::of));
        http.start();
    }

    @AfterEach
    void close() {
        http.close();
        pipes.close();
        directory.close();
    }

    @Test
    void aStateGoesRoundOverHttpAndEachAnswerHasItsVersion() throws Exception {
        assertThat(send("GET", "", null).headers().firstValue("ETag")).hasValue("\"1\"");

        HttpResponse<String> paused = send("POST", "/pause", "\"1\"");
        HttpResponse<String> resumed = send("POST", "/resume", "\"2\"");
        HttpResponse<String> draining = send("POST", "/drain", null);

        assertThat(paused.statusCode()).isEqualTo(200);
        assertThat(JSON.readTree(paused.body()).path("paused").asBoolean()).isTrue();
        assertThat(paused.headers().firstValue("ETag")).hasValue("\"2\"");
        assertThat(JSON.readTree(resumed.body()).path("paused").asBoolean()).isFalse();
        assertThat(JSON.readTree(draining.body()).path("state").asText()).isEqualTo("DRAINING");
        HttpResponse<String> refused = publish("b");
        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(JSON.readTree(refused.body()).path("code").asText()).isEqualTo("WRONG_STATE");
        assertThat(JSON.readTree(send("POST", "/close", null).body())
                        .path("state")
                        .asText())
                .isEqualTo("CLOSED");
        assertThat(JSON.readTree(send("POST", "/open", null).body())
                        .path("version")
                        .asLong())
                .isEqualTo(6);
        assertThat(publish("b").statusCode()).isEqualTo(200);
    }

    @Test
    void aStaleVersionChangesNothingAndIsToldApartFromAWrongState() throws Exception {
        HttpResponse<String> stale = send("POST", "/drain", "\"7\"");
        HttpResponse<String> staleDelete = send("DELETE", "", "\"7\"");
        HttpResponse<String> wrong = send("POST", "/close", "\"1\"");

        assertThat(stale.statusCode()).isEqualTo(412);
        assertThat(stale.body()).contains("WRONG_STATE", "version=1, expected version=7");
        assertThat(staleDelete.statusCode()).isEqualTo(412);
        assertThat(wrong.statusCode()).isEqualTo(409);
        assertThat(wrong.body()).contains("state=OPEN, asked=CLOSED, possible=[DRAINING]");
        assertThat(JSON.readTree(send("GET", "", null).body()).path("state").asText())
                .isEqualTo("OPEN");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "W/\"1\"", "\"\"", "\"x\"", "\"1\", \"2\""})
    void aVersionThatIsNoneIsRefused(String ifMatch) throws Exception {
        assertThat(send("POST", "/drain", ifMatch).statusCode()).isEqualTo(400);
    }

    @Test
    void aPipeThatIsNotThereCannotBeChanged() throws Exception {
        for (String verb : new String[] {"/pause", "/reopen"}) {
            HttpResponse<String> answer = request("POST", "/v1/pipes/nobody" + verb, null);
            assertThat(answer.statusCode()).isEqualTo(404);
        }
        assertThat(request("DELETE", "/v1/pipes/nobody", null).statusCode()).isEqualTo(404);
        assertThat(send("GET", "/pause", null).statusCode()).isEqualTo(405);
        assertThat(send("PATCH", "", null).headers().firstValue("Allow")).hasValue("GET, HEAD, PUT, DELETE");
    }

    @Test
    void aDeletedPipeIsGoneAndTheNextOneOfItsNameGoesOnAboveItsIds() throws Exception {
        assertThat(send("DELETE", "", "\"1\"").statusCode()).isEqualTo(200);

        assertThat(send("GET", "", null).statusCode()).isEqualTo(404);
        assertThat(relay("ls").out()).contains("there is no pipe yet");
        HttpResponse<String> again = publish("b");
        assertThat(again.statusCode()).isEqualTo(200);
        assertThat(JSON.readTree(again.body()).path("firstId").asLong()).isGreaterThan(1);
    }

    @Test
    void aFailedPipeIsShownWithItsReasonAndOpenedAgainWhenAsked() throws Exception {
        close();
        Path file = data.resolve("pipes/plant/pipe.json");
        byte[] whole = Files.readAllBytes(file);
        Files.writeString(file, "{}");
        open();

        HttpResponse<String> failed = send("POST", "/reopen", null);
        CommandRun listed = relay("ls");
        Files.write(file, whole);
        HttpResponse<String> well = send("POST", "/reopen", null);

        assertThat(failed.statusCode()).isEqualTo(503);
        assertThat(failed.body()).contains("PIPE_FAILED", "pipe.json");
        assertThat(listed.out()).contains("pipe=plant, state=FAILED", "reason: pipe");
        assertThat(well.statusCode()).isEqualTo(200);
        assertThat(JSON.readTree(well.body()).path("state").asText()).isEqualTo("OPEN");
    }

    @Test
    void commandsChangeAPipeAndSayWhatItIsThen() throws Exception {
        CommandRun paused = relay("pause", "plant", "--if-version=1");
        CommandRun stale = relay("drain", "plant", "--if-version=1");
        CommandRun resumed = relay("resume", "plant", "--json");
        CommandRun wrong = relay("open", "plant");
        relay("drain", "plant");
        CommandRun closed = relay("close", "plant");

        assertThat(paused.exitCode()).isZero();
        assertThat(paused.out()).startsWith("pipe=plant, state=OPEN (paused), version=2, last id=1");
        assertThat(stale.exitCode()).isEqualTo(4);
        assertThat(stale.err()).contains("version=2, expected version=1");
        assertThat(JSON.readTree(resumed.out()).path("version").asLong()).isEqualTo(3);
        assertThat(wrong.exitCode()).isZero(); // it is
        assertThat(closed.out()).startsWith("pipe=plant, state=CLOSED, version=5");
        assertThat(JSON.readTree(relay("info", "plant").out()).path("state").asText())
                .isEqualTo("CLOSED");
        await("the list knows it").atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
            JsonNode all = JSON.readTree(relay("ls", "--json").out());
            assertThat(all.get(0).path("state").asText()).isEqualTo("CLOSED");
        });
    }

    @Test
    void aPipeIsDeletedByACommandOnlyIfItIsMeant() {
        CommandRun unsure = relay("delete", "plant");
        CommandRun sure = relay("delete", "plant", "--yes");
        CommandRun twice = relay("delete", "plant", "--yes");

        assertThat(unsure.exitCode()).isNotZero();
        assertThat(sure.exitCode()).isZero();
        assertThat(sure.out()).isEqualToIgnoringNewLines("deleted: pipe=plant");
        assertThat(twice.exitCode()).isEqualTo(4);
    }

    private CompletionStage<Appended> append(
            PipeName pipe,
            String type,
            Map<String, String> options,
            ByteBuffer bytes,
            @Nullable ProducerSequence sequence) {
        ByteBuffer copy = ByteBuffer.allocate(bytes.remaining()).put(bytes).flip();
        Answer answer = new Answer();
        pipes.pipe(pipe).append(List.of(new Payload("b", Map.of(), copy)), sequence, PipeSettings.NONE, answer);
        return answer;
    }

    private CommandRun relay(String command, String... more) {
        String[] arguments = new String[more.length + 3];
        System.arraycopy(more, 0, arguments, 3, more.length);
        arguments[0] = "pipe";
        arguments[1] = command;
        arguments[2] = "--server=http://127.0.0.1:" + http.port();
        return CommandRun.of(arguments);
    }

    private HttpResponse<String> publish(String text) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(uri("/v1/pipes/plant/events?type=b"))
                        .POST(BodyPublishers.ofString(text))
                        .build(),
                BodyHandlers.ofString());
    }

    private HttpResponse<String> send(String method, String rest, @Nullable String ifMatch) throws Exception {
        return request(method, "/v1/pipes/plant" + rest, ifMatch);
    }

    private HttpResponse<String> request(String method, String path, @Nullable String ifMatch) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri(path)).method(method, BodyPublishers.noBody());
        if (ifMatch != null) {
            request.header("If-Match", ifMatch);
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + http.port() + path);
    }
}
