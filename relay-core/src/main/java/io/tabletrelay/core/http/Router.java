package io.tabletrelay.core.http;

import io.tabletrelay.api.PipeName;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Finds what answers a request. Every request is answered: with what was asked for, or with a problem.
 *
 * <p>Threading: thread-safe, immutable.
 */
final class Router extends Handler.Abstract {
    private static final String GET = "GET";
    private static final String HEAD = "HEAD";
    private static final String PUT = "PUT";
    private static final String POST = "POST";
    private static final String DELETE = "DELETE";

    private final RelayView relay;
    private final PublishEndpoint publish;
    private final PipeEndpoints pipes;
    private final SubscriptionEndpoints subscriptions;
    private final LetterEndpoints letters;
    private final LifeCycleEndpoints lifeCycles;

    Router(RelayView relay, int maxRequestBytes) {
        this.relay = relay;
        this.publish = new PublishEndpoint(relay, maxRequestBytes);
        this.pipes = new PipeEndpoints(relay);
        this.subscriptions = new SubscriptionEndpoints(relay);
        this.letters = new LetterEndpoints(relay);
        this.lifeCycles = new LifeCycleEndpoints(relay);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        // A publish may have to wait longer for its append than a connection may be idle.
        request.addIdleTimeoutListener(timeout -> false);
        Exchange exchange = new Exchange(request, response, callback);
        exchange.guarded(() -> route(exchange, Target.of(request.getHttpURI())));
        return true;
    }

    private void route(Exchange exchange, Target target) {
        List<String> path = target.segments();
        if (path.size() == 1) {
            top(exchange, path.get(0));
        } else if (path.get(0).equals("v1") && path.get(1).equals("pipes")) {
            if (path.size() == 2) {
                allow(exchange, GET, () -> pipes.list(exchange, target));
            } else {
                onePipe(exchange, target, new PipeName(path.get(2)), path.subList(3, path.size()));
            }
        } else {
            notFound(exchange);
        }
    }

    private void top(Exchange exchange, String name) {
        switch (name) {
            case "livez" -> allow(exchange, GET, () -> exchange.json(HttpStatus.OK_200, Map.of("status", "alive")));
            case "readyz" -> allow(exchange, GET, () -> ready(exchange));
            case "metrics" ->
                allow(
                        exchange,
                        GET,
                        () -> exchange.bytes(
                                relay.metrics().prometheusContentType(),
                                relay.metrics().prometheusText()));
            default -> notFound(exchange);
        }
    }

    private void ready(Exchange exchange) {
        List<String> reasons = relay.notReadyReasons().get();
        if (reasons.isEmpty()) {
            exchange.json(HttpStatus.OK_200, Map.of("status", "ready"));
        } else {
            exchange.json(HttpStatus.SERVICE_UNAVAILABLE_503, Map.of("status", "not ready", "reasons", reasons));
        }
    }

    private void onePipe(Exchange exchange, Target target, PipeName pipe, List<String> rest) {
        String what = rest.isEmpty() ? "" : rest.get(0);
        if (rest.isEmpty()) {
            pipeItself(exchange, pipe);
        } else if (rest.size() == 1 && LifeCycleEndpoints.has(what)) {
            allow(exchange, POST, () -> lifeCycles.change(exchange, pipe, what));
        } else if (rest.size() == 1 && what.equals("events")) {
            allow(exchange, POST, () -> publish.handle(exchange, pipe, target.options()));
        } else if (rest.size() == 2 && what.equals("events")) {
            allow(exchange, GET, () -> pipes.event(exchange, pipe, rest.get(1)));
        } else if (rest.size() == 3 && what.equals("events") && rest.get(2).equals("explain")) {
            allow(exchange, GET, () -> pipes.explain(exchange, pipe, rest.get(1), target));
        } else if (rest.size() == 2 && what.equals("producers")) {
            allow(exchange, GET, () -> pipes.producer(exchange, pipe, rest.get(1)));
        } else {
            List<String> below = rest.subList(1, rest.size());
            boolean handled = switch (what) {
                case "subscriptions" -> subscriptions.handle(exchange, pipe, below);
                case "dead-letters" -> letters.handle(exchange, pipe, target, below);
                default -> false;
            };
            if (!handled) {
                notFound(exchange);
            }
        }
    }

    private void pipeItself(Exchange exchange, PipeName pipe) {
        switch (exchange.request().getMethod()) {
            case GET, HEAD -> pipes.status(exchange, pipe);
            case PUT -> pipes.create(exchange, pipe);
            case DELETE -> lifeCycles.delete(exchange, pipe);
            default -> exchange.problem(Problem.methodNotAllowed("GET, HEAD, PUT, DELETE"), exchange.callback());
        }
    }

    private static void allow(Exchange exchange, String method, Runnable endpoint) {
        String asked = exchange.request().getMethod();
        if (asked.equals(method) || (asked.equals(HEAD) && method.equals(GET))) {
            endpoint.run();
        } else {
            exchange.problem(Problem.methodNotAllowed(method.equals(GET) ? "GET, HEAD" : method), exchange.callback());
        }
    }

    private static void notFound(Exchange exchange) {
        exchange.problem(
                Problem.of(
                        HttpStatus.NOT_FOUND_404,
                        "nothing is here: path="
                                + exchange.request().getHttpURI().getPath()
                                + "; see /v1/pipes, /livez, /readyz, /metrics"),
                exchange.callback());
    }
}
