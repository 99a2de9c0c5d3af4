package io.tabletrelay.core.http;

import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.tabletrelay.api.Durability;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its answer, which is given once, now or later.
 *
 * <p>Threading: thread-safe by an atomic flag: the first answer counts.
 */
final class Exchange {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);
    private static final ObjectMapper JSON = JsonMapper.builder()
            .addMixIn(Durability.class, DurabilityAsWord.class)
            .build();

    private final Request request;
    private final Response response;
    private final Callback callback;
    private final AtomicBoolean answered = new AtomicBoolean();

    Exchange(Request request, Response response, Callback callback) {
        this.request = request;
        this.response = response;
        this.callback = callback;
    }

    Request request() {
        return request;
    }

    /** Hands over what the stage brings, or answers with its failure; a thread of the HTTP server's does it. */
    <T> void answerWhenDone(CompletionStage<T> stage, Consumer<T> answer) {
        answerWhenDone(stage, answer, this::fail);
    }

    <T> void answerWhenDone(CompletionStage<T> stage, Consumer<T> answer, Consumer<Throwable> failed) {
        stage.whenCompleteAsync(
                (result, failure) -> {
                    if (failure == null) {
                        guarded(() -> answer.accept(result));
                    } else {
                        guarded(() -> failed.accept(failure));
                    }
                },
                request.getComponents().getExecutor());
    }

    /** Runs this and answers with its failure if it fails. */
    void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** The answer will have this header; call it before the answer. */
    void header(HttpHeader name, String value) {
        response.getHeaders().put(name, value);
    }

    void json(int status, Object body) {
        answer(status, "application/json", bytes(body), callback);
    }

    void bytes(String contentType, byte[] body) {
        answer(200, contentType, body, callback);
    }

    /** Answers with a problem, unless there is an answer already. */
    void fail(Throwable failure) {
        if (answered.get()) {
            log.debug("request went wrong after its answer", failure);
            return;
        }
        problem(Problem.of(failure), callback);
    }

    /** Answers with a problem; the connection is done when the callback says so. */
    void problem(Problem problem, Callback whenWritten) {
        problem.headers().forEach((name, value) -> response.getHeaders().put(name, value));
        answer(problem.status(), "application/problem+json", bytes(problem.body()), whenWritten);
    }

    /** The whole exchange's end, for those who answer with {@link #problem}. */
    Callback callback() {
        return callback;
    }

    private void answer(int status, String contentType, byte[] body, Callback whenWritten) {
        if (!answered.compareAndSet(false, true)) {
            return;
        }
        try {
            response.setStatus(status);
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, contentType);
            response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
            response.write(true, ByteBuffer.wrap(body), whenWritten);
        } catch (RuntimeException e) {
            log.debug("answer could not be sent: status={}; the client is gone", status, e);
            whenWritten.failed(e);
        }
    }

    private static byte[] bytes(Object body) {
        try {
            return JSON.writeValueAsBytes(body);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("answer cannot be written as json: class=" + body.getClass(), e);
        }
    }

    private interface DurabilityAsWord {
        @JsonValue
        String word();
    }
}
