package io.tabletrelay.harness.client;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.client.RelayConsumer;
import io.tabletrelay.api.client.RelayProducer;
import io.tabletrelay.harness.client.ScriptRun.Language;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The examples of docs/clients, each against a relay that is restarted while it works. */
@Timeout(180)
class ExamplesTest {
    private static final PipeName PIPE = new PipeName("a pipe/ä");

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(Language.class)
    void theConsumerHandlesEveryEventInOrderThroughARestart(Language language) throws Exception {
        ScriptRun.assumeInstalled(language);
        Path output = folder.resolve("output");
        LiveRelay first = LiveRelay.start(folder.resolve("data"), 0);
        Process process = ScriptRun.start(language, consumer(language, first), output);
        try (RelayProducer producer = RelayProducer.builder(first.address(), PIPE)
                .name("p")
                .type("json")
                .start()) {
            publish(producer, 1, 150);
            await("first events").atMost(60, SECONDS).until(() -> lines(output).contains("150"));
            first.close();
            try (LiveRelay second = LiveRelay.start(folder.resolve("data"), first.wsPort())) {
                publish(producer, 151, 300);

                await("last event")
                        .atMost(60, SECONDS)
                        .until(() -> lines(output).contains("300"));

                assertThat(second.wsPort()).isEqualTo(first.wsPort());
                assertThat(lines(output).stream().distinct())
                        .containsExactlyElementsOf(IntStream.rangeClosed(1, 300)
                                .mapToObj(String::valueOf)
                                .toList());
            }
        } finally {
            process.destroyForcibly().waitFor();
            first.close();
        }
    }

    private static String consumer(Language language, LiveRelay relay) {
        String script = language == Language.PYTHON ? """
                from consumer import consume
                consume("%s", "%s", lambda id, payload: print(payload.decode()))
                """ : """
                const { consume } = await import("./consumer.mjs");
                await consume("%s", "%s", (event) => console.log(new TextDecoder().decode(event.bytes)));
                """;
        return script.formatted(relay.address(), PIPE);
    }

    private static void publish(RelayProducer producer, int from, int to) throws InterruptedException {
        for (int number = from; number <= to; number++) {
            var unused = producer.publish(String.valueOf(number).getBytes(StandardCharsets.UTF_8));
        }
    }

    private static List<String> lines(Path output) throws IOException {
        return Files.exists(output) ? Files.readAllLines(output) : List.of();
    }

    @ParameterizedTest
    @EnumSource(Language.class)
    void theProducerStoresEveryEventOnceAndInOrderThroughARestart(Language language) throws Exception {
        ScriptRun.assumeInstalled(language);
        Path output = folder.resolve("output");
        ConcurrentSkipListMap<Long, String> consumed = new ConcurrentSkipListMap<>();
        LiveRelay first = LiveRelay.start(folder.resolve("data"), 0);
        Process process = ScriptRun.start(language, producer(language, first), output);
        try (RelayConsumer consumer = RelayConsumer.builder(first.address(), PIPE)
                .onEvent(event -> consumed.put(event.id(), new String(event.bytes(), StandardCharsets.UTF_8)))
                .start()) {
            await("first events").atMost(60, SECONDS).until(() -> consumed.containsValue("50"));
            first.close();
            try (LiveRelay second = LiveRelay.start(folder.resolve("data"), first.wsPort())) {
                assertThat(process.waitFor(60, SECONDS)).isTrue();

                assertThat(lines(output)).endsWith("done");
                await("all events").atMost(60, SECONDS).until(() -> consumed.containsValue("600"));
                assertThat(second.wsPort()).isEqualTo(first.wsPort());
                List<String> expected = new ArrayList<>();
                IntStream.rangeClosed(1, 600).forEach(number -> expected.add(String.valueOf(number)));
                assertThat(List.copyOf(consumed.values())).containsExactlyElementsOf(expected);
                assertThat(consumer.completion()).isNotDone();
            }
        } finally {
            process.destroyForcibly().waitFor();
            first.close();
        }
    }

    private static String producer(Language language, LiveRelay relay) {
        String script = language == Language.PYTHON ? """
                import time
                from producer import produce
                def events():
                    for n in range(1, 601):
                        time.sleep(0.001)
                        yield str(n).encode()
                produce("%s", "%s", "p", events())
                print("done")
                """ : """
                const { produce } = await import("./producer.mjs");
                const producer = produce("%s", "%s", "p");
                const stored = [];
                for (let n = 1; n <= 600; n++) {
                  stored.push(producer.publish(new TextEncoder().encode(String(n))));
                  if (n %% 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
                }
                await Promise.all(stored);
                console.log("done");
                producer.close();
                """;
        return script.formatted(relay.address(), PIPE);
    }
}
