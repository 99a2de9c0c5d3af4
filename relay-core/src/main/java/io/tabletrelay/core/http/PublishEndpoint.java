package io.tabletrelay.core.http;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.jspecify.annotations.Nullable;

/**
 * Takes what is posted to a pipe and answers once it is stored.
 *
 * <p>Threading: thread-safe; what it counts is in an atomic number.
 */
final class PublishEndpoint {
    /** What all bodies being read may have together, in largest requests. */
    private static final int LARGEST_REQUESTS_AT_ONCE = 4;

    private final RelayView relay;
    private final int maxRequestBytes;
    private final BodyReader.Budget budget;

    PublishEndpoint(RelayView relay, int maxRequestBytes) {
        this.relay = relay;
        this.maxRequestBytes = maxRequestBytes;
        this.budget = new BodyReader.Budget((long) LARGEST_REQUESTS_AT_ONCE * maxRequestBytes);
    }

    /** The query's options are the serializer's, but for {@code type}, {@code producer} and {@code sequence}. */
    void handle(Exchange exchange, PipeName pipe, Map<String, String> query) {
        Map<String, String> options = new HashMap<>(query);
        String sourceType = sourceType(exchange, options.remove("type"));
        ProducerSequence sequence = sequence(options.remove("producer"), options.remove("sequence"));
        String encoding = exchange.request().getHeaders().get(HttpHeader.CONTENT_ENCODING);
        if (encoding != null && !encoding.equals("identity")) {
            throw Target.badRequest("content encoding is not supported: encoding=" + encoding + "; send it plain");
        }
        BodyReader.read(exchange, maxRequestBytes, budget, body -> {
            CompletionStage<Appended> appended = relay.publisher().publish(pipe, sourceType, options, body, sequence);
            exchange.answerWhenDone(
                    appended,
                    result -> exchange.json(HttpStatus.OK_200, Stored.of(result)),
                    failure -> refuse(exchange, pipe, sequence, failure));
        });
    }

    private String sourceType(Exchange exchange, @Nullable String asked) {
        if (asked != null && !asked.isEmpty()) {
            return asked;
        }
        String contentType = exchange.request().getHeaders().get(HttpHeader.CONTENT_TYPE);
        if (contentType != null && contentType.split(";", 2)[0].trim().equalsIgnoreCase("application/json")) {
            return "json";
        }
        throw Target.badRequest("source type is not given: available="
                + relay.sourceTypes().get() + "; add ?type= with one of them, or post as application/json");
    }

    private static @Nullable ProducerSequence sequence(@Nullable String producer, @Nullable String sequence) {
        if (producer == null && sequence == null) {
            return null;
        }
        if (producer == null || sequence == null) {
            throw Target.badRequest("producer and sequence go together: missing="
                    + (producer == null ? "producer" : "sequence") + "; give both, or none");
        }
        return new ProducerSequence(producer, Target.number("sequence", sequence, 1, Long.MAX_VALUE));
    }

    /** One who is out of sequence is also told where to go on. */
    private void refuse(Exchange exchange, PipeName pipe, @Nullable ProducerSequence sequence, Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (sequence != null && cause instanceof RelayException known && known.code() == ErrorCode.OUT_OF_SEQUENCE) {
            var found = relay.findPipe().apply(pipe);
            if (found.isPresent()) {
                exchange.answerWhenDone(
                        found.get().lastSequence(sequence.producer()),
                        last -> exchange.problem(Problem.of(known).with("last", last), exchange.callback()));
                return;
            }
        }
        exchange.fail(cause);
    }

    /** The answer; {@code count} 0 means that the serializer made nothing of the body, and the sequence is still free. */
    record Stored(long firstId, long lastId, long count, boolean duplicate, String durability) {
        static Stored of(Appended appended) {
            long count = appended.lastId() == 0 ? 0 : appended.lastId() - appended.firstId() + 1;
            return new Stored(
                    appended.firstId(),
                    appended.lastId(),
                    count,
                    appended.duplicate(),
                    appended.durability().word());
        }
    }
}
