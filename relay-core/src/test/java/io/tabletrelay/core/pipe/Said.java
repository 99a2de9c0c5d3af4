package io.tabletrelay.core.pipe;

import io.tabletrelay.core.pipe.SaidLines.Verb;

/** What a connection says in a test. */
final class Said {
    private Said() {}

    /** Acks; a negative number refuses that event. */
    static SaidLines acks(long... ids) {
        SaidLines lines = new SaidLines();
        for (long id : ids) {
            if (id > 0) {
                lines.add(Verb.ACK, id, id, "");
            } else {
                lines.add(Verb.NACK, -id, ConsumerLink.BACKOFF, "");
            }
        }
        return lines;
    }
}
