package io.tabletrelay.core.server;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.protocol.FrameCodec;
import io.tabletrelay.core.protocol.ServerLines;

/**
 * What a connection of dialect 2 is told.
 *
 * <p>Threading: thread-safe by the send buffer's lock; call it without a lock of one's own, for it may end the connection.
 */
final class Answers {
    private static final int RESTARTING = 1012;
    private static final int PIPE_BUSY = 4000;
    private static final int FORBIDDEN = 4003;
    private static final int NO_SUCH_PIPE = 4004;
    static final int TAKEN_OVER = 4409;
    static final int GONE = 4410;
    static final int TOO_MUCH = 4429;
    private static final int PIPE_FAILED = 4500;

    private final Connection connection;
    private final SendBuffer out;
    private final EdgeEvents events;
    private final RefusedBinds refusedBinds = new RefusedBinds();

    Answers(Connection connection, SendBuffer out, EdgeEvents events) {
        this.connection = connection;
        this.out = out;
        this.events = events;
    }

    /** A client that takes none of its answers is cut off. */
    void say(String line) {
        if (!out.answer(FrameCodec.text(line)) && !connection.isClosing()) {
            connection.drownedInAnswers();
        }
    }

    void error(RelayException why) {
        error(why.code(), why.reason());
    }

    void error(ErrorCode code, String reason) {
        say(ServerLines.error(code, reason));
    }

    /** A BIND or PUBLISH came to nothing, now or after it had been granted: some codes end the connection. */
    void refused(RelayException why) {
        events.bindFailed();
        error(why);
        int closeCode = closeCode(why.code());
        if (closeCode != 0) {
            connection.close(closeCode, why.reason());
        } else if (refusedBinds.add(connection.nowNanos())) {
            connection.close(
                    TOO_MUCH,
                    "too many refused binds: " + RefusedBinds.MOST + " in " + RefusedBinds.SPAN_SECONDS
                            + " s; come again in " + RefusedBinds.SPAN_SECONDS + " s");
        }
    }

    /** 0: the connection stays. */
    private static int closeCode(ErrorCode code) {
        return switch (code) {
            case PIPE_BUSY -> PIPE_BUSY;
            case FORBIDDEN -> FORBIDDEN;
            case NO_SUCH_PIPE -> NO_SUCH_PIPE;
            case PIPE_FINISHED -> GONE;
            case PIPE_FAILED -> PIPE_FAILED;
            case STOPPING -> RESTARTING;
            default -> 0;
        };
    }
}
