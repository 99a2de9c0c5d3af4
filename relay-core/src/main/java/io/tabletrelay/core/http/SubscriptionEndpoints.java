package io.tabletrelay.core.http;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.BindOptions.Start;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.pipe.SubscriptionStatus;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpStatus;

/**
 * Shows a pipe's subscriptions, makes, resets and deletes them. None of it makes the pipe.
 *
 * <p>Threading: thread-safe; what it counts is in an atomic number.
 */
final class SubscriptionEndpoints {
    private static final int MAX_BODY_BYTES = 4 << 10;
    private static final int BODIES_AT_ONCE = 64;

    private final RelayView relay;
    private final BodyReader.Budget budget = new BodyReader.Budget((long) BODIES_AT_ONCE * MAX_BODY_BYTES);

    SubscriptionEndpoints(RelayView relay) {
        this.relay = relay;
    }

    /** What follows {@code /v1/pipes/{pipe}/subscriptions}; false: there is no such thing. */
    boolean handle(Exchange exchange, PipeName pipe, List<String> path) {
        String method = exchange.request().getMethod();
        boolean looks = method.equals("GET") || method.equals("HEAD");
        if (path.isEmpty() && looks) {
            list(exchange, pipe);
        } else if (path.isEmpty()) {
            exchange.problem(Problem.methodNotAllowed("GET, HEAD"), exchange.callback());
        } else if (path.size() == 1 && looks) {
            show(exchange, pipe, path.get(0));
        } else if (path.size() == 1 && method.equals("PUT")) {
            withStart(exchange, start -> create(exchange, pipe, path.get(0), start));
        } else if (path.size() == 1 && method.equals("DELETE")) {
            delete(exchange, pipe, path.get(0));
        } else if (path.size() == 1) {
            exchange.problem(Problem.methodNotAllowed("GET, HEAD, PUT, DELETE"), exchange.callback());
        } else if (path.size() == 2 && path.get(1).equals("reset") && method.equals("POST")) {
            withStart(exchange, start -> reset(exchange, pipe, path.get(0), start));
        } else if (path.size() == 2 && path.get(1).equals("reset")) {
            exchange.problem(Problem.methodNotAllowed("POST"), exchange.callback());
        } else {
            return false;
        }
        return true;
    }

    private void list(Exchange exchange, PipeName pipe) {
        exchange.answerWhenDone(
                existing(pipe).subscriptions(),
                found -> exchange.json(HttpStatus.OK_200, Map.of("subscriptions", found)));
    }

    private void show(Exchange exchange, PipeName pipe, String name) {
        exchange.answerWhenDone(existing(pipe).subscriptions(), found -> {
            for (SubscriptionStatus each : found) {
                if (each.name().equals(name)) {
                    exchange.json(HttpStatus.OK_200, each);
                    return;
                }
            }
            throw new RelayException(
                    ErrorCode.NO_SUCH_SUBSCRIPTION, "no such subscription: pipe=" + pipe + ", subscription=" + name);
        });
    }

    private void create(Exchange exchange, PipeName pipe, String name, Start start) {
        exchange.answerWhenDone(
                existing(pipe).createSubscription(name, start),
                made -> exchange.json(
                        made.created() ? HttpStatus.CREATED_201 : HttpStatus.OK_200, made.subscription()));
    }

    private void reset(Exchange exchange, PipeName pipe, String name, Start start) {
        exchange.answerWhenDone(
                existing(pipe).resetSubscription(name, start), now -> exchange.json(HttpStatus.OK_200, now));
    }

    private void delete(Exchange exchange, PipeName pipe, String name) {
        exchange.answerWhenDone(
                existing(pipe).deleteSubscription(name),
                gone -> exchange.json(HttpStatus.OK_200, Map.of("name", name, "deleted", true)));
    }

    private void withStart(Exchange exchange, Consumer<Start> then) {
        BodyReader.read(exchange, MAX_BODY_BYTES, budget, body -> then.accept(StartBody.start(body)));
    }

    private Pipe existing(PipeName name) {
        return relay.findPipe()
                .apply(name)
                .orElseThrow(() -> new RelayException(
                        ErrorCode.NO_SUCH_PIPE, "no such pipe: pipe=" + name + "; publishing to it makes it"));
    }
}
