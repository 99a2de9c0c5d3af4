package io.tabletrelay.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.tabletrelay.core.delivery.EventPlace.Obstacle;
import io.tabletrelay.core.delivery.EventPlace.Obstacle.Kind;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ExplanationTest {
    private static final DeadLetter LETTER = new DeadLetter(4, 7, "max-deliveries", 20, "no such unit", 1_000, 5, "a");
    private static final Obstacle NONE = Obstacle.of(Kind.NONE);
    private static final String WHO = "consumer 1 of 1 (127.0.0.1:4711, dialect 2, mode exclusive)";

    static List<Arguments> places() {
        return List.of(
                arguments(new EventPlace.Unknown(6), "unknown: no event has this id, the last one given is 6"),
                arguments(
                        new EventPlace.NoEvent(),
                        "void: no event has this id or ever will; its append was cut short, refused by the disk or lost in a"
                                + " power cut, or an earlier pipe of this name had the id"),
                arguments(
                        new EventPlace.BelowStart(9),
                        "settled from the beginning: the subscription started behind it, with event 9"),
                arguments(
                        new EventPlace.NotKept(100),
                        "settled by its consumer; when is not kept; it is not kept any more, the oldest event that is there is 100"),
                arguments(new EventPlace.Settled(""), "settled by its consumer; when is not kept"),
                arguments(new EventPlace.Settled("b"), "settled: it was redriven for subscription b alone"),
                arguments(
                        new EventPlace.InFlight(WHO, 1, 1_500, 28_500),
                        "in flight to " + WHO + ", delivery 2: sent, or held, 1500 ms ago and not answered;"
                                + " its ack deadline ends in 28 s"),
                arguments(
                        new EventPlace.InFlight(WHO, 0, 70_000, -1),
                        "in flight to " + WHO + ", delivery 1: sent, or held, 70 s ago and not answered;"
                                + " it has no ack deadline"),
                arguments(
                        new EventPlace.InFlight(WHO, 0, -1, -1),
                        "in flight to " + WHO + ", delivery 1: its bytes have not reached the socket yet,"
                                + " and its ack deadline has not begun"),
                arguments(
                        new EventPlace.Waiting(4_000, 3, "no such unit", NONE),
                        "waiting to be delivered again after failed delivery 3 (no such unit): not before 4000 ms from now"),
                arguments(
                        new EventPlace.Waiting(0, 0, "", Obstacle.of(Kind.NO_CONSUMER)),
                        "waiting to be delivered again since its consumer went or the relay was started anew:"
                                + " it is due, and no consumer is bound"),
                arguments(
                        new EventPlace.GivenUp(20, "no such unit", "dead letters cannot be written: full"),
                        "being given up after failed delivery 20 (no such unit): its dead letter is being written,"
                                + " but dead letters cannot be written: full"),
                arguments(
                        new EventPlace.Undelivered(3, "", NONE),
                        "undelivered, with up to 3 events before it: it goes in its turn"),
                arguments(
                        new EventPlace.Undelivered(0, "b", NONE),
                        "not reached yet, and will be passed: it was redriven for subscription b alone"));
    }

    @ParameterizedTest
    @MethodSource("places")
    void eachPlaceIsToldInOneSentence(EventPlace place, String sentence) {
        assertThat(new Explanation("OPEN", 0).of("a", place, null, false))
                .isEqualTo("for subscription a it is " + sentence);
    }

    static Stream<Arguments> obstacles() {
        return Stream.of(
                arguments(NONE, "it goes in its turn"),
                arguments(Obstacle.of(Kind.STOPPING), "the relay is stopping and sends nothing any more"),
                arguments(Obstacle.of(Kind.PAUSED), "nothing is sent while the pipe is CLOSED"),
                arguments(Obstacle.of(Kind.NO_CONSUMER), "no consumer is bound"),
                arguments(
                        new Obstacle(
                                Kind.RING_CANNOT_GROW, "", 0, 0, "no further deliveries until some are settled: full"),
                        "no further deliveries until some are settled: full"),
                arguments(
                        new Obstacle(Kind.NOT_READING, WHO, 0, 0, ""), WHO + " does not read: its send buffer is full"),
                arguments(
                        new Obstacle(Kind.STRICT_ORDER, WHO, 5, 0, ""),
                        WHO + " wants strict order, and event 5 must be settled first"),
                arguments(new Obstacle(Kind.WINDOW_PAUSED, WHO, 0, 0, ""), WHO + " wants none now: its window is 0"),
                arguments(
                        new Obstacle(Kind.WINDOW_FULL, WHO, 10, 10, ""),
                        "the window of " + WHO + " is full (10 of 10 events are not answered)"),
                arguments(
                        new Obstacle(Kind.BYTES_FULL, WHO, 900, 1_000, ""),
                        "the window of " + WHO + " has no room for it (900 of 1000 bytes are not answered)"),
                arguments(
                        new Obstacle(Kind.ONE_AT_A_TIME, WHO, 0, 0, ""),
                        "connections were lost again and again, so events go one at a time until one is settled"),
                arguments(
                        new Obstacle(Kind.QUOTA, WHO, 0, 0, ""),
                        "the relay has as much on its way to all consumers as it may, and this one has its share"));
    }

    @ParameterizedTest
    @MethodSource("obstacles")
    void eachObstacleIsNamed(Obstacle obstacle, String why) {
        assertThat(new Explanation("CLOSED", 0).of("a", new EventPlace.Undelivered(0, "", obstacle), null, false))
                .isEqualTo("for subscription a it is undelivered: " + why);
    }

    @Test
    void noObstacleIsForgotten() {
        Set<Kind> named = obstacles()
                .map(each -> ((Obstacle) each.get()[0]).kind())
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(Kind.class)));

        assertThat(named).isEqualTo(EnumSet.allOf(Kind.class));
    }

    @Test
    void aDeadLetterIsNamedWithItsReason() {
        Explanation words = new Explanation("OPEN", 0);

        assertThat(words.of("a", new EventPlace.Settled(""), LETTER, false))
                .endsWith(
                        "settled as dead letter 4 (max-deliveries after 20 failed deliveries, last error: no such unit),"
                                + " which can be redriven (relay dlq redrive)");
        assertThat(words.of("a", new EventPlace.NotKept(9), LETTER, true))
                .contains("no such unit), which was redriven or purged; it is not kept any more");
    }

    @Test
    void whereEventsWereDroppedASettledOneMayBeOfThem() {
        assertThat(new Explanation("OPEN", 12).of("a", new EventPlace.Settled(""), null, false))
                .endsWith("when is not kept. Or it was dropped to make room, as 12 events were since the start");
    }
}
