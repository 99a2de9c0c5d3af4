package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.pipe.SaidLines.Verb;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineInboxTest {
    private static final int MOST = 2 * 65_536;

    private final LineInbox inbox = new LineInbox();

    @Test
    void theTransferThreadIsToldOnceForManyLines() {
        assertThat(inbox.add(Verb.ACK, 1, 1)).isTrue();
        assertThat(inbox.add(Verb.NACK, 5, -1, "no")).isFalse();
        assertThat(inbox.add(Verb.ACK, 7, 9)).isFalse();

        assertThat(taken()).containsExactly("ACK 1 1 ", "NACK 5 -1 no", "ACK 7 9 ");
        assertThat(inbox.add(Verb.HOLD, 2, 0)).isTrue();
    }

    @Test
    void acksInARowAreOneLineAndOthersStandWhereTheyWere() {
        for (long id = 1; id <= 1_000_000; id++) {
            inbox.add(Verb.ACK, id, id);
        }
        inbox.add(Verb.ACK, 500, 2_000_000);
        inbox.add(Verb.TERM, 3, 0, "bad");
        inbox.add(Verb.ACK, 2_000_001, 2_000_001);
        inbox.add(Verb.ACK_UP_TO, 7, 0);
        inbox.add(Verb.ACK_UP_TO, 4, 0);

        assertThat(taken()).containsExactly("ACK 1 2000000 ", "TERM 3 0 bad", "ACK 2000001 2000001 ", "ACK_UP_TO 7 0 ");
    }

    @Test
    void theLastWindowCountsHoweverFullTheInboxIs() {
        for (int i = 0; i < MOST + 10; i++) {
            inbox.add(Verb.HOLD, i, 0);
        }
        assertThat(inbox.window(0)).isFalse();
        inbox.window(10);
        inbox.window(0);

        SaidLines lines = inbox.takeAll();
        assertThat(lines.size()).isEqualTo(MOST);
        assertThat(lines.window()).isZero();
        assertThat(inbox.takeAll().window()).isEqualTo(SaidLines.NO_WINDOW);
        assertThat(inbox.window(3)).isTrue();
    }

    @Test
    void aFullInboxMakesRoomOfRepeats() {
        for (int i = 0; i < MOST; i++) {
            inbox.add(Verb.NACK, i % 2 + 1, -1, "");
        }
        inbox.add(Verb.ACK, 9, 9);

        assertThat(taken()).containsExactly("NACK 1 -1 ", "NACK 2 -1 ", "ACK 9 9 ");
    }

    @Test
    void reasonsTakeNoMoreMemoryThanTheyMay() {
        String reason = "x".repeat(1_000);
        for (int i = 0; i < 10_000; i++) {
            inbox.add(Verb.NACK, i, -1, reason);
        }

        SaidLines lines = inbox.takeAll();
        long chars = 0;
        for (int i = 0; i < lines.size(); i++) {
            chars += lines.reason(i).length();
        }
        assertThat(lines.size()).isEqualTo(10_000);
        assertThat(chars).isBetween(1_000_000L, 1L << 20);
    }

    private List<String> taken() {
        SaidLines lines = inbox.takeAll();
        List<String> said = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            said.add(lines.verb(i) + " " + lines.first(i) + " " + lines.second(i) + " " + lines.reason(i));
        }
        return said;
    }
}
