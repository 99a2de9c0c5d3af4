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
 * <p>Threading: immutable.
 */
final class ErrorAnswers extends ErrorHandler {
    private final int maxHeaderBytes;

    ErrorAnswers(int maxHeaderBytes) {
        this.maxHeaderBytes = maxHeaderBytes;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        int status = response.getStatus();
        Object cause = request.getAttribute(ERROR_EXCEPTION);
        Exchange exchange = new Exchange(request, response, callback);
        if (cause instanceof HttpException refused) {
            exchange.problem(Problem.of(refused.getCode(), detail(refused)), callback);
        } else if (cause instanceof Throwable failure) {
            exchange.fail(failure);
        } else {
            exchange.problem(Problem.of(status, HttpStatus.getMessage(status)), callback);
        }
        return true;
    }

    /** The HTTP server gives a reason for some refusals only, and never its limits. */
    private String detail(HttpException refused) {
        String reason = refused.getReason();
        String said = reason == null ? HttpStatus.getMessage(refused.getCode()) : reason;
        return switch (refused.getCode()) {
            case HttpStatus.URI_TOO_LONG_414 ->
                "address is too long: limitBytes=" + maxHeaderBytes + "; send options and data in the body";
            case HttpStatus.REQUEST_HEADER_FIELDS_TOO_LARGE_431 ->
                "headers are too large: limitBytes=" + maxHeaderBytes + "; send fewer or shorter ones";
            case HttpStatus.HTTP_VERSION_NOT_SUPPORTED_505 ->
                "version of HTTP is not spoken here: reason=" + said + "; send HTTP/1.1";
            default -> "request is not understood: reason=" + said;
        };
    }
}
