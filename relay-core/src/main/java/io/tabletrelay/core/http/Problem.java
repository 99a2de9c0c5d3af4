package io.tabletrelay.core.http;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.pipe.WrongVersionException;
import io.tabletrelay.core.plugin.EventRefusedException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.eclipse.jetty.http.HttpStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An answer that says what went wrong (RFC 9457), with our stable code in it.
 *
 * <p>Threading: immutable.
 *
 * @param headers sent besides
 * @param body the JSON object's members
 */
record Problem(int status, Map<String, String> headers, Map<String, Object> body) {
    private static final Logger log = LoggerFactory.getLogger(Problem.class);
    private static final Map<String, String> RETRY_SOON = Map.of("Retry-After", "1");
    private static final int TOO_MANY = 429;

    /** What is not a {@link RelayException} is a fault of ours: logged here, and told without its details. */
    static Problem of(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (!(cause instanceof RelayException known)) {
            log.error("http request broke", cause);
            return of(ErrorCode.INTERNAL, "the relay broke on this request; its log has the details");
        }
        if (known instanceof WrongVersionException) {
            int status = HttpStatus.PRECONDITION_FAILED_412;
            return new Problem(status, Map.of(), members(status, known.code().name(), known.reason()));
        }
        Problem problem = of(known.code(), known.reason());
        if (known instanceof EventRefusedException refused) {
            problem.addPosition("line", refused.line());
            problem.addPosition("column", refused.column());
            problem.addPosition("byteOffset", refused.byteOffset());
        }
        return problem;
    }

    static Problem of(ErrorCode code, String detail) {
        int status = status(code);
        return new Problem(status, status == TOO_MANY ? RETRY_SOON : Map.of(), members(status, code.name(), detail));
    }

    /** For what HTTP itself forbids; the code is then the status as a word. */
    static Problem of(int status, String detail) {
        return new Problem(status, Map.of(), members(status, codeOf(status), detail));
    }

    static Problem methodNotAllowed(String allowed) {
        int status = HttpStatus.METHOD_NOT_ALLOWED_405;
        return new Problem(
                status,
                Map.of("Allow", allowed),
                members(status, codeOf(status), "method is not allowed here: allowed=" + allowed));
    }

    /** Adds a member; returns this for chaining. */
    Problem with(String name, Object value) {
        body.put(name, value);
        return this;
    }

    String detail() {
        return String.valueOf(body.get("detail"));
    }

    private void addPosition(String name, long position) {
        if (position >= 0) {
            body.put(name, position);
        }
    }

    private static Map<String, Object> members(int status, String code, String detail) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("type", "about:blank");
        body.put("title", HttpStatus.getMessage(status));
        body.put("status", status);
        body.put("code", code);
        body.put("detail", detail);
        return body;
    }

    private static String codeOf(int status) {
        return switch (status) {
            case HttpStatus.NOT_FOUND_404 -> "NOT_FOUND";
            case HttpStatus.METHOD_NOT_ALLOWED_405 -> "METHOD_NOT_ALLOWED";
            case HttpStatus.SERVICE_UNAVAILABLE_503 -> ErrorCode.STOPPING.name();
            case HttpStatus.HTTP_VERSION_NOT_SUPPORTED_505 -> ErrorCode.BAD_REQUEST.name();
            default ->
                (status < HttpStatus.INTERNAL_SERVER_ERROR_500 ? ErrorCode.BAD_REQUEST : ErrorCode.INTERNAL).name();
        };
    }

    private static int status(ErrorCode code) {
        return switch (code) {
            case BAD_EVENT, BAD_NAME, BAD_REQUEST, NO_SERIALIZER, BAD_LINE, BAD_OPTION -> HttpStatus.BAD_REQUEST_400;
            case FORBIDDEN -> HttpStatus.FORBIDDEN_403;
            case NO_SUCH_PIPE, NO_SUCH_SUBSCRIPTION -> HttpStatus.NOT_FOUND_404;
            case OUT_OF_SEQUENCE, PIPE_EXISTS, PIPE_FINISHED, PIPE_BUSY, WRONG_STATE -> HttpStatus.CONFLICT_409;
            case TOO_LARGE -> HttpStatus.PAYLOAD_TOO_LARGE_413;
            case BUSY, PIPE_FULL -> TOO_MANY;
            case STORAGE_FULL -> HttpStatus.INSUFFICIENT_STORAGE_507;
            case PIPE_FAILED, STOPPING -> HttpStatus.SERVICE_UNAVAILABLE_503;
            case CANNOT_START, INTERNAL -> HttpStatus.INTERNAL_SERVER_ERROR_500;
        };
    }
}
