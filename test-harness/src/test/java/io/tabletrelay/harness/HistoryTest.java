package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class HistoryTest {
    private final History history = new History();

    @Test
    void keptPromisesHaveNoFaults() {
        publishedAndConfirmed(1, "a");
        publishedAndConfirmed(2, "b");

        history.delivered(1, bytes("a"));
        history.delivered(2, bytes("b"));
        history.delivered(2, bytes("b"));
        history.ackRead(1);
        history.ackRead(2);

        assertThat(history.faults(0)).isEmpty();
        assertThat(history.unacked()).isEmpty();
        assertThat(history.deliveries()).isEqualTo(3);
        assertThat(history.deliveredEvents()).isEqualTo(2);
    }

    @Test
    void aConfirmedEventThatNeverCameIsLost() {
        publishedAndConfirmed(1, "a");
        publishedAndConfirmed(2, "b");

        history.delivered(1, bytes("a"));

        assertThat(history.faults(0)).containsExactly("lost: id=2 was confirmed and never delivered");
        assertThat(history.lost()).isEqualTo(1);
    }

    @Test
    void aRepeatConfirmedWithoutItsIdIsLostToo() {
        history.publishing(bytes("a"));
        history.confirmed(bytes("a"));

        assertThat(history.faults(0)).singleElement().asString().startsWith("lost: a payload");
    }

    @Test
    void anUnconfirmedEventMayComeOrNot() {
        history.publishing(bytes("a"));
        history.publishing(bytes("b"));

        history.delivered(1, bytes("b"));

        assertThat(history.faults(0)).isEmpty();
    }

    @Test
    void whatComesAfterItsAckWasReadIsADuplicate() {
        publishedAndConfirmed(1, "a");
        history.delivered(1, bytes("a"));
        history.acked(1);
        history.delivered(1, bytes("a"));
        assertThat(history.faults(0)).isEmpty();
        history.ackRead(1);

        history.delivered(1, bytes("a"));

        assertThat(history.faults(0)).containsExactly("duplicate after ack: id=1");
    }

    @Test
    void aFirstDeliveryBehindALaterOneIsReordered() {
        publishedAndConfirmed(1, "a");
        publishedAndConfirmed(2, "b");

        history.delivered(2, bytes("b"));
        history.delivered(1, bytes("a"));

        assertThat(history.faults(0)).containsExactly("reordered: id=1 first delivered after id=2");
    }

    @Test
    void anIdHasOnePayloadForEver() {
        publishedAndConfirmed(1, "a");
        history.publishing(bytes("b"));

        history.delivered(1, bytes("b"));

        assertThat(history.faults(0))
                .containsExactly("two payloads: id=1 was delivered with another payload than before");
    }

    @Test
    void aPayloadIsStoredOnce() {
        publishedAndConfirmed(1, "a");

        history.delivered(1, bytes("a"));
        history.delivered(2, bytes("a"));

        assertThat(history.faults(0)).containsExactly("stored twice: the payload of id=1 was delivered as id=2");
    }

    @Test
    void whatNobodyPublishedIsUnexpected() {
        publishedAndConfirmed(1, "a");
        history.delivered(1, bytes("a"));

        history.delivered(2, bytes("x"));

        assertThat(history.faults(0)).containsExactly("unexpected: id=2 carries what nobody published");
    }

    @Test
    void aGapMustBeReportedAsVoid() {
        publishedAndConfirmed(1, "a");
        publishedAndConfirmed(4, "b");

        history.delivered(1, bytes("a"));
        history.delivered(4, bytes("b"));

        assertThat(history.faults(2)).isEmpty();
        assertThat(history.faults(0)).containsExactly("gap: ids up to 4 without an event=2, reported void=0");
    }

    private void publishedAndConfirmed(long id, String payload) {
        history.publishing(bytes(payload));
        history.confirmed(id, bytes(payload));
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }
}
