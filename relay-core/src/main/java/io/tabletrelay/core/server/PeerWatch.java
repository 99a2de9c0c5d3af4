package io.tabletrelay.core.server;

import io.tabletrelay.core.config.ServerConfig;

/**
 * Decides, from what is seen of one peer, when it must be pinged and when it is given up.
 *
 * <p>Threading: confined to the server's timer thread.
 */
final class PeerWatch {
    /** What is to be done about a peer. */
    enum Verdict {
        LEAVE,
        PING,
        /** It did not become a WebSocket, or did not answer our close, in time. */
        HANDSHAKE_OVERDUE,
        /** Nothing came from it, and nothing waits for it. */
        SILENT,
        /** It does not take its bytes: none for too long, or nothing came from it while some waited for it. */
        SLOW
    }

    /**
     * A peer at one moment.
     *
     * @param handshaking it is not a WebSocket yet, or a close frame was sent to it
     * @param handshakeNanos since when
     * @param lifeNanos when bytes last came from it, or it took bytes that had waited for it
     * @param unsentBytes given to its connection and not written
     * @param writtenBytes written so far
     */
    record Signs(boolean handshaking, long handshakeNanos, long lifeNanos, long unsentBytes, long writtenBytes) {}

    private final long handshakeTimeoutNanos;
    private final long heartbeatNanos;
    private final long heartbeatTimeoutNanos;
    private final long slowTimeoutNanos;
    private long pingNanos;
    private long progressNanos;
    private long progressBytes;

    PeerWatch(ServerConfig config, long nowNanos) {
        handshakeTimeoutNanos = config.handshakeTimeout().toNanos();
        heartbeatNanos = config.heartbeat().toNanos();
        heartbeatTimeoutNanos = config.heartbeatTimeout().toNanos();
        slowTimeoutNanos = config.slowConsumerTimeout().toNanos();
        pingNanos = nowNanos;
        progressNanos = nowNanos;
    }

    /** To be asked a few times in the shortest timeout; {@code PING} is answered once a heartbeat. */
    Verdict judge(Signs peer, long nowNanos) {
        if (peer.unsentBytes() <= 0 || peer.writtenBytes() != progressBytes) {
            progressBytes = peer.writtenBytes();
            progressNanos = nowNanos;
        }
        if (peer.handshaking()) {
            return nowNanos - peer.handshakeNanos() > handshakeTimeoutNanos ? Verdict.HANDSHAKE_OVERDUE : Verdict.LEAVE;
        }
        if (nowNanos - progressNanos > slowTimeoutNanos) {
            return Verdict.SLOW;
        }
        if (nowNanos - peer.lifeNanos() > heartbeatTimeoutNanos) {
            return peer.unsentBytes() > 0 ? Verdict.SLOW : Verdict.SILENT;
        }
        if (nowNanos - pingNanos >= heartbeatNanos && peer.unsentBytes() <= 0) {
            pingNanos = nowNanos;
            return Verdict.PING;
        }
        return Verdict.LEAVE;
    }
}
