package io.tabletrelay.core.protocol;

import io.tabletrelay.core.protocol.Command.Mode;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Dialect 2's lines from clients. Acks, of which there are most, are read without making an object.
 *
 * <p>Threading: confined to the connection's worker thread.
 */
public final class CommandCodec {
    /** What a subscription is called that nobody named. */
    public static final String DEFAULT_SUBSCRIPTION = "default";

    public static final int DEFAULT_WINDOW_EVENTS = 1024;
    public static final int MOST_WINDOW_EVENTS = 65_536;
    public static final long DEFAULT_WINDOW_BYTES = 8L << 20;
    public static final int DEFAULT_BATCH_EVENTS = 64;

    private static final long MOST_WINDOW_BYTES = 1L << 30;
    private static final long MOST_DELAY_MILLIS = 7L * 24 * 3_600_000;
    private static final int MOST_REASON_CHARS = 1000;
    private static final long BACKOFF = -1;

    private static final List<String> BIND_OPTIONS =
            List.of("subscription", "start", "window", "window-bytes", "batch", "order", "mode", "headers", "confirm");
    private static final List<String> PUBLISH_OPTIONS = List.of("producer", "type", "headers");
    private static final List<String> SWITCH = List.of("0", "1");
    private static final List<String> ORDERS = List.of("relaxed", "strict");
    private static final List<String> MODES = List.of("exclusive", "takeover", "standby", "shared");

    private static final String ACK = "ACK:";

    private final Command.Acks acks = new Command.Acks(new IdRanges());

    /** What the line says; throws for everything that is not exactly a line of dialect 2. */
    public Command decode(String line) throws ProtocolException {
        if (line.startsWith(ACK)) {
            acks.ids().read(line, ACK.length());
            return acks;
        }
        int colon = line.indexOf(':');
        if (colon < 0) {
            return withoutArgument(line);
        }
        String argument = line.substring(colon + 1);
        return switch (line.substring(0, colon)) {
            case "ACKTO" -> new Command.AckUpTo(id(argument));
            case "NACK" -> nack(argument);
            case "ERROR" -> new Command.Nack(id(argument), BACKOFF, "");
            case "TERM" -> term(argument);
            case "HOLD" -> new Command.Hold(id(argument));
            case "WINDOW" -> new Command.Window(window(argument));
            case "BIND" -> bind(Options.read(argument, BIND_OPTIONS));
            case "PUBLISH" -> publish(Options.read(argument, PUBLISH_OPTIONS));
            case "AUTH" -> auth(argument);
            case "UNBIND", "FINISH" -> throw new ProtocolException("an argument where none is due");
            default -> throw new ProtocolException("an unknown verb");
        };
    }

    private static Command withoutArgument(String verb) throws ProtocolException {
        return switch (verb) {
            case "UNBIND" -> new Command.Unbind();
            case "FINISH" -> new Command.Finish();
            case "ACK", "ACKTO", "NACK", "ERROR", "TERM", "HOLD", "WINDOW", "BIND", "PUBLISH", "AUTH" ->
                throw new ProtocolException("a verb without its argument");
            default -> throw new ProtocolException("an unknown verb");
        };
    }

    private static long id(String text) throws ProtocolException {
        return Digits.id(text, 0, text.length());
    }

    private static Command nack(String argument) throws ProtocolException {
        int afterId = argument.indexOf(':');
        if (afterId < 0) {
            return new Command.Nack(id(argument), BACKOFF, "");
        }
        int afterDelay = argument.indexOf(':', afterId + 1);
        int delayEnd = afterDelay < 0 ? argument.length() : afterDelay;
        long delayMillis = Digits.read(argument, afterId + 1, delayEnd);
        if (delayMillis < 0 || delayMillis > MOST_DELAY_MILLIS) {
            throw new ProtocolException("a delay that is not from 0 to " + MOST_DELAY_MILLIS + " ms");
        }
        long id = Digits.id(argument, 0, afterId);
        return new Command.Nack(id, delayMillis, afterDelay < 0 ? "" : reason(argument, afterDelay + 1));
    }

    private static Command term(String argument) throws ProtocolException {
        int afterId = argument.indexOf(':');
        if (afterId < 0) {
            throw new ProtocolException("TERM without a reason");
        }
        return new Command.Term(Digits.id(argument, 0, afterId), reason(argument, afterId + 1));
    }

    private static String reason(String argument, int from) throws ProtocolException {
        if (argument.length() - from > MOST_REASON_CHARS) {
            throw new ProtocolException("a reason of more than " + MOST_REASON_CHARS + " characters");
        }
        return argument.substring(from);
    }

    private static int window(String text) throws ProtocolException {
        long events = Digits.read(text, 0, text.length());
        if (events < 0 || events > MOST_WINDOW_EVENTS) {
            throw new ProtocolException("a window that is not from 0 to " + MOST_WINDOW_EVENTS);
        }
        return (int) events;
    }

    private static Command auth(String token) throws ProtocolException {
        if (token.isBlank()) {
            throw new ProtocolException("an empty token");
        }
        return new Command.Auth(token);
    }

    private static Command bind(Options options) throws ProtocolException {
        String subscription = options.word("subscription");
        boolean strict = options.choice("order", 0, ORDERS) == 1;
        Mode mode = switch (options.choice("mode", 0, MODES)) {
            case 1 -> Mode.TAKEOVER;
            case 2 -> Mode.STANDBY;
            case 3 -> Mode.SHARED;
            default -> Mode.EXCLUSIVE;
        };
        if (strict && mode == Mode.SHARED) {
            throw Options.badValue("order", "strict", "[relaxed] with mode=shared");
        }
        return new Command.Bind(
                options.pipe(),
                subscription == null ? DEFAULT_SUBSCRIPTION : subscription,
                from(options.value("start")),
                (int) options.number("window", DEFAULT_WINDOW_EVENTS, 1, MOST_WINDOW_EVENTS),
                options.number("window-bytes", DEFAULT_WINDOW_BYTES, 1, MOST_WINDOW_BYTES),
                (int) options.number("batch", DEFAULT_BATCH_EVENTS, 1, MOST_WINDOW_EVENTS),
                strict,
                mode,
                options.choice("headers", 0, SWITCH) == 1,
                options.choice("confirm", -1, List.of("acks")) == 0);
    }

    private static Command.From from(@Nullable String start) throws ProtocolException {
        if (start == null || start.equals("earliest")) {
            return new Command.From.Earliest();
        }
        if (start.equals("latest")) {
            return new Command.From.Latest();
        }
        long id = Digits.read(start, 0, start.length());
        if (id > 0) {
            return new Command.From.Id(id);
        }
        try {
            Instant time = OffsetDateTime.parse(start).toInstant();
            var unused = time.toEpochMilli(); // it must be one that an event can have
            return new Command.From.Time(time);
        } catch (DateTimeException | ArithmeticException e) {
            throw Options.badValue(
                    "start",
                    start,
                    "[earliest, latest, an id, an ISO-8601 time with its offset, as 2026-01-31T12:00:00Z]");
        }
    }

    private static Command publish(Options options) throws ProtocolException {
        return new Command.Publish(
                options.pipe(),
                options.word("producer"),
                options.word("type"),
                options.choice("headers", 0, SWITCH) == 1);
    }
}
