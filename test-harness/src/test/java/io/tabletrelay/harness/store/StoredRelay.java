package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.core.client.RefusedException;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.RawClient;
import io.tabletrelay.harness.RelayProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A relay in a process of its own with little heap, whose events each begin with a number, the same as their id where a
 * pipe's publishes are all confirmed.
 *
 * <p>Threading: confined to the test's thread.
 */
final class StoredRelay implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final RelayProcess process;
    private final RelayHttp http;

    private StoredRelay(RelayProcess process) throws InterruptedException {
        this.process = process;
        process.awaitReady(PATIENCE);
        http = new RelayHttp(process.http());
    }

    static StoredRelay start(Path data, String... options) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("serve", "--data=" + data, "--ws-port=0", "--http-port=0"));
        all.addAll(List.of(options));
        return new StoredRelay(
                RelayProcess.start(List.of(), List.of("-Xmx128m"), RelayProcess.RELAY_MAIN, all, line -> {}));
    }

    RelayProcess process() {
        return process;
    }

    /** Publishes an event and returns its id. */
    long publish(String pipe, long number, int bytes) throws IOException, InterruptedException {
        ByteBuffer payload = ByteBuffer.allocate(bytes).putLong(0, number);
        return http.publish(pipe, "bytes", Map.of(), payload, null).firstId();
    }

    /** Publishes events, numbered behind the last, until one is refused; returns the number of the last that was stored. */
    long publishUntilRefused(String pipe, long last, int bytes) throws IOException, InterruptedException {
        long number = last;
        try {
            while (true) {
                publish(pipe, number + 1, bytes);
                number++;
            }
        } catch (RefusedException refused) {
            return number;
        }
    }

    /** Why a publish is refused. */
    RefusedException refusal(String pipe, int bytes) {
        RefusedException refusal =
                catchThrowableOfType(RefusedException.class, () -> publish(pipe, Long.MAX_VALUE, bytes));
        assertThat(refusal).as("refusal by " + pipe).isNotNull();
        return refusal;
    }

    JsonNode status(String pipe) throws IOException, InterruptedException {
        return http.pipe(pipe);
    }

    /** Consumes and acks until the event with that number came, which must follow each other from the first on. */
    void consume(String pipe, long first, long last) throws IOException {
        try (RawClient client = RawClient.connect(process.wsPort())) {
            client.sendText("BIND:" + pipe);
            assertThat(client.next(PATIENCE).text()).isEqualTo("READY");
            for (long number = first; number <= last; ) {
                RawClient.Frame frame = client.next(PATIENCE);
                assertThat(frame.opcode()).isEqualTo(RawClient.BINARY);
                assertThat(frame.event().getLong(0)).isEqualTo(number);
                client.sendText("ACK:" + frame.eventId());
                number++;
            }
            await("acks are read").atMost(PATIENCE).until(() -> floor(pipe) >= last);
        }
    }

    long floor(String pipe) throws IOException, InterruptedException {
        return status(pipe).path("floor").asLong(-1);
    }

    /** Lines that the relay printed with this in them. */
    List<String> said(String part) {
        return process.output().stream().filter(line -> line.contains(part)).toList();
    }

    @Override
    public void close() {
        process.close();
    }
}
