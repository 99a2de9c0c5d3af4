package io.tabletrelay.core.http;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.pipe.PipeStatus;
import io.tabletrelay.core.pipe.StateChange;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.jspecify.annotations.Nullable;

/**
 * Changes a pipe's state and deletes pipes. {@code If-Match} with the version that was seen makes sure that nothing has changed
 * since; each answer about one pipe has its version as {@code ETag}.
 *
 * <p>Threading: thread-safe, immutable.
 */
final class LifeCycleEndpoints {
    private static final String REOPEN = "reopen";
    private static final Map<String, StateChange> CHANGES = Arrays.stream(StateChange.values())
            .collect(Collectors.toUnmodifiableMap(StateChange::word, Function.identity()));

    private final RelayView relay;

    LifeCycleEndpoints(RelayView relay) {
        this.relay = relay;
    }

    static boolean has(String word) {
        return word.equals(REOPEN) || CHANGES.containsKey(word);
    }

    /** Answers with what the pipe is then. */
    void change(Exchange exchange, PipeName name, String word) {
        Pipe pipe = relay.findPipe()
                .apply(name)
                .orElseThrow(() -> new RelayException(ErrorCode.NO_SUCH_PIPE, "no such pipe: pipe=" + name));
        StateChange change = CHANGES.get(word);
        exchange.answerWhenDone(
                change == null ? pipe.reopen() : pipe.change(change, ifVersion(exchange)),
                status -> status(exchange, status));
    }

    void delete(Exchange exchange, PipeName name) {
        exchange.answerWhenDone(
                relay.deletePipe().delete(name, ifVersion(exchange)),
                gone -> exchange.json(HttpStatus.OK_200, new Deleted(name.value(), true)));
    }

    static void status(Exchange exchange, PipeStatus status) {
        if (status.version() > 0) { // it is not known of a pipe that has failed from the start
            exchange.header(HttpHeader.ETAG, "\"" + status.version() + "\"");
        }
        exchange.json(HttpStatus.OK_200, status);
    }

    /** The version that the request wants the state to have; null: any. */
    private static @Nullable Long ifVersion(Exchange exchange) {
        String given = exchange.request().getHeaders().get(HttpHeader.IF_MATCH);
        if (given == null || given.equals("*")) {
            return null;
        }
        boolean quoted = given.length() > 2 && given.startsWith("\"") && given.endsWith("\"");
        if (!quoted) {
            throw Target.badRequest("If-Match is not understood: If-Match=" + given
                    + "; write the version of the pipe's state in quotes, as the ETag has it");
        }
        return Target.number("If-Match", given.substring(1, given.length() - 1), 1, Long.MAX_VALUE);
    }

    record Deleted(String name, boolean deleted) {}
}
