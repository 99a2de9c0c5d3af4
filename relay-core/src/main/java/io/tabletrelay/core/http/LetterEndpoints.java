package io.tabletrelay.core.http;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.DeadLetter;
import io.tabletrelay.core.delivery.LetterContent;
import io.tabletrelay.core.delivery.LetterSelection;
import io.tabletrelay.core.pipe.Pipe;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.jetty.http.HttpStatus;

/**
 * Shows a pipe's dead letters, redrives and purges them. What is redriven or purged must be named by the query, so that nothing goes by
 * an oversight: {@code all=true}, or any of {@code numbers=1,2}, {@code reason=} and {@code subscription=}.
 *
 * <p>Threading: thread-safe, immutable.
 */
final class LetterEndpoints {
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 1_000;
    private static final int MOST_NUMBERS = 1_000;
    private static final String ALL = "all";
    private static final String NUMBERS = "numbers";
    private static final String REASON = "reason";
    private static final String SUBSCRIPTION = "subscription";
    private static final Set<String> SELECTORS = Set.of(ALL, NUMBERS, REASON, SUBSCRIPTION);

    private final RelayView relay;

    LetterEndpoints(RelayView relay) {
        this.relay = relay;
    }

    /** What follows {@code /v1/pipes/{pipe}/dead-letters}; false: there is no such thing. */
    boolean handle(Exchange exchange, PipeName pipe, Target target, List<String> path) {
        String method = exchange.request().getMethod();
        boolean looks = method.equals("GET") || method.equals("HEAD");
        if (path.isEmpty() && looks) {
            list(exchange, pipe, target);
        } else if (path.isEmpty() && method.equals("DELETE")) {
            purge(exchange, pipe, selection(target));
        } else if (path.isEmpty()) {
            exchange.problem(Problem.methodNotAllowed("GET, HEAD, DELETE"), exchange.callback());
        } else if (path.size() == 1 && path.get(0).equals("redrive")) {
            if (method.equals("POST")) {
                redrive(exchange, pipe, selection(target));
            } else {
                exchange.problem(Problem.methodNotAllowed("POST"), exchange.callback());
            }
        } else if (path.size() == 1 && looks) {
            show(exchange, pipe, number(path.get(0)));
        } else if (path.size() == 1 && method.equals("DELETE")) {
            purge(exchange, pipe, new LetterSelection(List.of(number(path.get(0))), "", ""));
        } else if (path.size() == 1) {
            exchange.problem(Problem.methodNotAllowed("GET, HEAD, DELETE"), exchange.callback());
        } else {
            return false;
        }
        return true;
    }

    private static long number(String text) {
        return Target.number("number", text, 1, Long.MAX_VALUE);
    }

    /** By number, from behind {@code after} on; {@code next} says how to go on when there may be more. */
    private void list(Exchange exchange, PipeName name, Target target) {
        long after = target.number("after", 0, 0, Long.MAX_VALUE);
        int limit = (int) target.number("limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
        exchange.answerWhenDone(existing(name).deadLetters(after, limit), letters -> {
            Map<String, Object> body = new LinkedHashMap<>();
            body.put("deadLetters", letters);
            if (letters.size() == limit) {
                body.put("next", letters.get(limit - 1).number());
            }
            exchange.json(HttpStatus.OK_200, body);
        });
    }

    private void show(Exchange exchange, PipeName name, long number) {
        exchange.answerWhenDone(existing(name).deadLetter(number), found -> {
            if (found.isPresent()) {
                exchange.json(HttpStatus.OK_200, shown(found.get()));
            } else {
                exchange.problem(
                        Problem.of(
                                HttpStatus.NOT_FOUND_404,
                                "no such dead letter: pipe=" + name + ", number=" + number
                                        + "; there never was one, or it was redriven or purged"),
                        exchange.callback());
            }
        });
    }

    private static Map<String, Object> shown(LetterContent content) {
        DeadLetter letter = content.letter();
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("number", letter.number());
        body.put("eventId", letter.eventId());
        body.put("subscription", letter.subscription());
        body.put("reason", letter.reason());
        body.put("failedDeliveries", letter.failedDeliveries());
        body.put("lastError", letter.lastError());
        body.put("atMillis", letter.atMillis());
        body.put("contentType", content.event().contentType());
        body.put("headers", content.event().headers());
        body.put("payloadBytes", letter.payloadBytes());
        ByteBuffer payload = content.event().bytes();
        try {
            body.put(
                    "payload",
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(payload.duplicate())
                            .toString());
        } catch (CharacterCodingException e) {
            body.put(
                    "payloadBase64",
                    StandardCharsets.ISO_8859_1
                            .decode(Base64.getEncoder().encode(payload.duplicate()))
                            .toString());
        }
        return body;
    }

    private void redrive(Exchange exchange, PipeName name, LetterSelection which) {
        exchange.answerWhenDone(
                existing(name).redrive(which),
                done -> exchange.json(
                        HttpStatus.OK_200,
                        new Redriven(done.count(), done.passed(), done.firstId(), done.lastId(), done.more())));
    }

    private void purge(Exchange exchange, PipeName name, LetterSelection which) {
        exchange.answerWhenDone(
                existing(name).purge(which),
                done -> exchange.json(HttpStatus.OK_200, new Purged(done.count(), done.more())));
    }

    private static LetterSelection selection(Target target) {
        for (String option : target.options().keySet()) {
            if (!SELECTORS.contains(option)) {
                throw Target.badRequest("option is not known: option=" + option + "; " + howToSelect());
            }
        }
        String all = target.options().get(ALL);
        if (all != null) {
            if (!all.equals("true") || target.options().size() > 1) {
                throw Target.badRequest(
                        "it is not clear which dead letters are meant: all=" + all + "; " + howToSelect());
            }
            return LetterSelection.ALL;
        }
        LetterSelection which = new LetterSelection(
                numbers(target.options().getOrDefault(NUMBERS, "")),
                target.options().getOrDefault(REASON, ""),
                target.options().getOrDefault(SUBSCRIPTION, ""));
        if (which.equals(LetterSelection.ALL)) {
            throw Target.badRequest("it is not said which dead letters are meant; " + howToSelect());
        }
        return which;
    }

    private static List<Long> numbers(String text) {
        if (text.isEmpty()) {
            return List.of();
        }
        List<Long> numbers = new ArrayList<>();
        for (String each : text.split(",", -1)) {
            numbers.add(number(each));
        }
        if (numbers.size() > MOST_NUMBERS) {
            throw Target.badRequest("too many numbers: numbers=" + numbers.size() + ", limit=" + MOST_NUMBERS);
        }
        return numbers;
    }

    private static String howToSelect() {
        return "give all=true alone, or numbers=1,2, reason= or subscription=";
    }

    private Pipe existing(PipeName name) {
        return relay.findPipe()
                .apply(name)
                .orElseThrow(() -> new RelayException(
                        ErrorCode.NO_SUCH_PIPE, "no such pipe: pipe=" + name + "; publishing to it makes it"));
    }

    /**
     * Answer to a redrive.
     *
     * @param passed not redriven, since nothing is left of their events
     * @param more true if others may be selected: ask again
     */
    record Redriven(int redriven, int passed, long firstId, long lastId, boolean more) {}

    /**
     * Answer to a purge.
     *
     * @param more true if others may be selected: ask again
     */
    record Purged(int purged, boolean more) {}
}
