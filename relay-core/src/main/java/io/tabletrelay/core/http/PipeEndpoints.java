package io.tabletrelay.core.http;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.pipe.PipeGlance;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpStatus;

/**
 * Makes pipes, and shows them and what is in them. Looking at a pipe never makes it.
 *
 * <p>Threading: thread-safe; what it counts is in an atomic number.
 */
final class PipeEndpoints {
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 1_000;
    private static final int MAX_SETTINGS_BYTES = 16 << 10;
    private static final int SETTINGS_AT_ONCE = 64;

    private final RelayView relay;
    private final BodyReader.Budget settingsBudget =
            new BodyReader.Budget((long) SETTINGS_AT_ONCE * MAX_SETTINGS_BYTES);

    PipeEndpoints(RelayView relay) {
        this.relay = relay;
    }

    /** Pipes by name, from behind {@code after} on; {@code next} says how to go on when there are more. None is opened. */
    void list(Exchange exchange, Target target) {
        int limit = (int) target.number("limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
        String after = target.options().getOrDefault("after", "");
        List<PipeGlance> found = relay.pipes().get().stream()
                .filter(pipe -> pipe.name().compareTo(after) > 0)
                .sorted(Comparator.comparing(PipeGlance::name))
                .limit(limit + 1L)
                .toList();
        List<PipeGlance> shown = found.subList(0, Math.min(limit, found.size()));
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("pipes", shown);
        if (found.size() > shown.size()) {
            body.put("next", shown.get(shown.size() - 1).name());
        }
        exchange.json(HttpStatus.OK_200, body);
    }

    /** Makes the pipe with the settings that the body names, or answers that it is there with the same. */
    void create(Exchange exchange, PipeName name) {
        BodyReader.read(exchange, MAX_SETTINGS_BYTES, settingsBudget, body -> {
            PipeSettings settings = SettingsBody.settings(body);
            exchange.answerWhenDone(
                    relay.createPipe().apply(name, settings),
                    created -> exchange.json(
                            created ? HttpStatus.CREATED_201 : HttpStatus.OK_200,
                            new Created(name.value(), created, settings.values())));
        });
    }

    void status(Exchange exchange, PipeName name) {
        exchange.answerWhenDone(existing(name).status(), status -> LifeCycleEndpoints.status(exchange, status));
    }

    void event(Exchange exchange, PipeName name, String id) {
        long eventId = Target.number("id", id, 1, Long.MAX_VALUE);
        exchange.answerWhenDone(existing(name).stateOf(eventId), state -> exchange.json(HttpStatus.OK_200, state));
    }

    void explain(Exchange exchange, PipeName name, String id, Target target) {
        long eventId = Target.number("id", id, 1, Long.MAX_VALUE);
        String subscription = target.options().getOrDefault("subscription", "");
        exchange.answerWhenDone(
                existing(name).explain(eventId, subscription),
                explained -> exchange.json(HttpStatus.OK_200, explained));
    }

    void producer(Exchange exchange, PipeName name, String producer) {
        exchange.answerWhenDone(
                existing(name).lastSequence(producer),
                last -> exchange.json(HttpStatus.OK_200, new Producer(producer, last)));
    }

    private Pipe existing(PipeName name) {
        return relay.findPipe()
                .apply(name)
                .orElseThrow(() -> new RelayException(
                        ErrorCode.NO_SUCH_PIPE, "no such pipe: pipe=" + name + "; publishing to it makes it"));
    }

    record Created(String name, boolean created, Map<String, String> settings) {}

    record Producer(String producer, long lastSequence) {}
}
