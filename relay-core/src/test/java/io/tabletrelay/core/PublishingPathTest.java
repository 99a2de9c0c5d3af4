package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tabletrelay.api.Durability;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.http.FakePipes;
import io.tabletrelay.core.http.HttpEdge;
import io.tabletrelay.core.http.RelayView;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.plugin.GuardedSerializer;
import io.tabletrelay.core.plugin.Providers;
import io.tabletrelay.core.plugin.SerializerRegistry;
import io.tabletrelay.core.plugin.TestSerializers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** From the HTTP request through a serializer to the pipe, all real but the pipe. */
class PublishingPathTest {
    @TempDir
    Path folder;

    private final FakePipes pipes = new FakePipes();
    private final RelayMetrics metrics = new RelayMetrics();
    private final HttpClient client = HttpClient.newHttpClient();
    private SerializerRegistry serializers;
    private RelayPublisher publisher;
    private HttpEdge edge;

    @BeforeEach
    void open() {
        serializers = SerializerRegistry.load(
                Providers.of(folder, EventSerializer.class, TestSerializers.Shared.class),
                new SerializerContext(100, 10));
        publisher =
                new RelayPublisher(serializers, pipes::pipe, pipes::settings, metrics, Durability.PROCESS, 2, 1 << 20);
        edge = new HttpEdge(
                new HttpConfig("127.0.0.1", 0, 1000),
                new RelayView(
                        publisher,
                        serializers::available,
                        pipes::glances,
                        pipes::find,
                        pipes::create,
                        (name, ifVersion) -> CompletableFuture.failedFuture(new UnsupportedOperationException()),
                        metrics,
                        List::of));
        edge.start();
    }

    @AfterEach
    void close() {
        edge.close();
        publisher.close();
        serializers.close();
        metrics.close();
    }

    @Test
    void optionsReachTheSerializerAndItsPayloadsThePipe() throws Exception {
        HttpResponse<String> response = post("count=3", "x");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(json(response).get("count").asInt()).isEqualTo(3);
        assertThat(pipes.pipe("plant").stored()).containsExactly("x", "x", "x");
    }

    @Test
    void aPipesSettingsReachTheSerializerAndNoOptionSaysOtherwise() throws Exception {
        var unused = pipes.create(new PipeName("plant"), new PipeSettings(Map.of("tablet-format", "v1")));

        HttpResponse<String> silent = post("do=tell-format", "x");
        HttpResponse<String> agreeing = post("do=tell-format&tablet-format=v1", "x");
        HttpResponse<String> contrary = post("do=tell-format&tablet-format=v2", "x");

        assertThat(List.of(silent.statusCode(), agreeing.statusCode())).containsOnly(200);
        assertThat(pipes.pipe("plant").stored()).containsExactly("v1", "v1");
        assertThat(contrary.statusCode()).isEqualTo(400);
        assertThat(json(contrary).get("code").asText()).isEqualTo("BAD_EVENT");
        assertThat(json(contrary).get("detail").asText())
                .startsWith("event refused, its pipe has another setting: pipe=plant, tablet-format=v2, setting=v1");
    }

    @Test
    void aPipeOfFirstUseTakesTheDefaultOnly() throws Exception {
        HttpResponse<String> other = post("do=tell-format&tablet-format=v1", "x");
        HttpResponse<String> given = post("do=tell-format&tablet-format=v2", "x");

        assertThat(other.statusCode()).isEqualTo(400);
        assertThat(json(other).get("detail").asText()).contains("tablet-format=v1, setting=v2");
        assertThat(given.statusCode()).isEqualTo(200);
        assertThat(pipes.pipe("plant").stored()).containsExactly("v2");
    }

    @Test
    void aRefusedEventIsToldWithLineAndColumn() throws Exception {
        HttpResponse<String> response = post("do=refuse-at-line", "x");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(json(response).get("code").asText()).isEqualTo("BAD_EVENT");
        assertThat(json(response).get("line").asInt()).isEqualTo(3);
        assertThat(json(response).get("column").asInt()).isEqualTo(7);
        assertThat(json(response).has("byteOffset")).isFalse();
        assertThat(pipes.names()).isEmpty();
    }

    @Test
    void aRefusedEventIsToldWithItsByteOffset() throws Exception {
        HttpResponse<String> response = post("do=refuse-at-byte", "x");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(json(response).get("byteOffset").asInt()).isEqualTo(42);
        assertThat(json(response).has("line")).isFalse();
    }

    @Test
    void aSerializerThatBreaksRefusesOnlyThatRequest() throws Exception {
        Logger log = (Logger) LoggerFactory.getLogger(GuardedSerializer.class);
        log.setLevel(Level.OFF);

        HttpResponse<String> broken = post("do=overflow", "x");
        HttpResponse<String> next = post("do=echo", "x");

        assertThat(broken.statusCode()).isEqualTo(400);
        assertThat(broken.body()).doesNotContain("\tat ", "TestSerializers");
        assertThat(next.statusCode()).isEqualTo(200);
        log.setLevel(null);
    }

    @Test
    void whatIsTooLargeToStoreIsToldSo() throws Exception {
        assertThat(post("do=echo", "x".repeat(101)).statusCode()).isEqualTo(413);
        assertThat(post("count=11", "x").statusCode()).isEqualTo(413);
        assertThat(post("do=echo", "x".repeat(100)).statusCode()).isEqualTo(200);
    }

    @Test
    void anEventThatBecomesNothingIsAnsweredWithNoIds() throws Exception {
        assertThat(post("do=nothing", "x").body())
                .isEqualTo("{\"firstId\":0,\"lastId\":0,\"count\":0,\"duplicate\":false,\"durability\":\"process\"}");
    }

    @Test
    void aTypeThatIsNotThereIsToldWithThoseThatAre() throws Exception {
        HttpResponse<String> response = post("type=avro", "x");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(json(response).get("code").asText()).isEqualTo("NO_SERIALIZER");
        assertThat(json(response).get("detail").asText()).contains("'avro'", "available=[shared]");
    }

    private HttpResponse<String> post(String options, String body) throws IOException, InterruptedException {
        String type = options.startsWith("type=") ? "" : "type=shared&";
        URI uri = URI.create("http://127.0.0.1:" + edge.port() + "/v1/pipes/plant/events?" + type + options);
        return client.send(
                HttpRequest.newBuilder(uri)
                        .timeout(Duration.ofSeconds(30))
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private static JsonNode json(HttpResponse<String> response) throws IOException {
        return new ObjectMapper().readTree(response.body());
    }
}
