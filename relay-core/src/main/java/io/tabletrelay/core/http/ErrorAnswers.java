package io.tabletrelay.core.http;

import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/**
 * Answers what the HTTP server refuses by itself in the same form as all else: no pages, no stack traces.
 *
 * <p>Threading: thread-safe, without state.
 */
final class ErrorAnswers extends ErrorHandler {
    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        int status = response.getStatus();
        Object cause = request.getAttribute(ERROR_EXCEPTION);
        Exchange exchange = new Exchange(request, response, callback);
        if (cause instanceof HttpException refused) {
            exchange.problem(Problem.of(refused.getCode(), String.valueOf(refused.getReason())), callback);
        } else if (cause instanceof Throwable failure) {
            exchange.fail(failure);
        } else {
            exchange.problem(Problem.of(status, HttpStatus.getMessage(status)), callback);
        }
        return true;
    }
}
