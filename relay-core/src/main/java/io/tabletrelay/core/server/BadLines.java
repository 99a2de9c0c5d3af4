package io.tabletrelay.core.server;

import org.slf4j.event.Level;

/**
 * Lines of one connection that mean nothing: all are counted, the first is logged.
 *
 * <p>Threading: confined to the connection's worker thread.
 */
final class BadLines {
    private static final int MAX_EXCERPT_CHARS = 60;

    private final Connection connection;
    private final EdgeEvents events;
    private final ClientLog log;
    private boolean logged;

    BadLines(Connection connection, Connection.Surroundings surroundings) {
        this.connection = connection;
        this.events = surroundings.events();
        this.log = surroundings.log();
    }

    void add(String what, String text, String pipe) {
        events.malformedLine();
        if (!logged) {
            logged = true;
            log.line(
                    Level.WARN,
                    "line means nothing: peer={}, pipe={}, line='{}'; {}; "
                            + "further ones of this connection are only counted",
                    connection.peer(),
                    pipe,
                    excerpt(text),
                    what);
        }
    }

    private static String excerpt(String text) {
        String start = text.length() <= MAX_EXCERPT_CHARS ? text : text.substring(0, MAX_EXCERPT_CHARS) + "…";
        return start.replaceAll("[^\\p{Print}…]", "?");
    }
}
