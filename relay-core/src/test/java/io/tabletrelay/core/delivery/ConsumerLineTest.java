package io.tabletrelay.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.delivery.BindOptions.Mode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ConsumerLineTest {
    private static final long SECOND = 1_000_000_000L;

    private final List<String> said = new ArrayList<>();
    private final ConsumerLine line =
            new ConsumerLine("pipe=p, subscription=s", 5 * SECOND, new ConsumerLine.Listener() {
                @Override
                public void taken(Consumer holder) {
                    holder.tell(null);
                    said.add(holder.sink() + " taken");
                }

                @Override
                public void left(Consumer holder, boolean lost) {
                    said.add(holder.sink() + (lost ? " lost" : " left"));
                }
            });
    private final Consumer a = new Consumer(new NamedSink("a"), BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
    private final Consumer b = new Consumer(new NamedSink("b"), BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
    private final Consumer c = new Consumer(new NamedSink("c"), BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);

    @Test
    void theFirstIsBoundAtOnce() {
        line.join(a, 0);

        assertThat(said).containsExactly("a bound", "a taken");
        assertThat(line.holders()).containsExactly(a);
    }

    @Test
    void aHolderThatAnswersTheProbeKeepsThePipe() {
        line.join(a, 0);
        line.join(b, 0);
        line.life(a, true, 1);

        assertThat(said).containsExactly("a bound", "a taken", "a probed", "b refused");
        assertThat(line.expireProbe(6 * SECOND)).isFalse();
    }

    @Test
    void aFrameThatWasOnItsWayIsNoSignOfLifeALaterOneIs() {
        line.join(a, 0);
        line.join(b, 0);
        line.life(a, false, SECOND);
        assertThat(said).doesNotContain("b refused");

        line.life(a, false, SECOND + 1);
        assertThat(said).contains("b refused");
    }

    @Test
    void aSilentHolderIsTakenOverWhenTheProbeRunsOut() {
        line.join(a, 0);
        line.join(b, 0);

        assertThat(line.probeDeadlineNanos(-1)).isEqualTo(5 * SECOND);
        assertThat(line.expireProbe(5 * SECOND - 1)).isFalse();
        assertThat(line.expireProbe(5 * SECOND)).isTrue();
        assertThat(said)
                .containsExactly("a bound", "a taken", "a probed", "a takenOver", "a left", "b bound", "b taken");
        assertThat(a.everBound()).isTrue();
    }

    @Test
    void oneProbeAtATimeAndNewcomersInOrderOfArrival() {
        line.join(a, 0);
        line.join(b, 0);
        line.join(c, SECOND);
        line.life(a, true, 2 * SECOND);
        assertThat(said).containsExactly("a bound", "a taken", "a probed", "b refused", "a probed");

        assertThat(line.expireProbe(7 * SECOND)).isTrue();
        assertThat(line.holders()).containsExactly(c);
    }

    @Test
    void whenTheHolderLeavesTheFirstInLineIsBoundAtOnceAndTheNextOneProbesIt() {
        line.join(a, 0);
        line.join(b, 0);
        line.join(c, 0);
        line.gone(a, true, 1);

        assertThat(said).containsExactly("a bound", "a taken", "a probed", "a lost", "b bound", "b taken", "b probed");
    }

    @Test
    void aNewcomerThatLeavesTakesItsProbeWithIt() {
        line.join(a, 0);
        line.join(b, 0);
        line.gone(b, true, 1);

        assertThat(line.expireProbe(10 * SECOND)).isFalse();
        assertThat(line.holders()).containsExactly(a);
    }

    @Test
    void aConnectionThatNeverBoundMayLeave() {
        line.gone(b, true, 0);
        line.join(a, 0);
        line.gone(a, true, 1);
        line.gone(a, true, 2);

        assertThat(said).containsExactly("a bound", "a taken", "a lost");
    }

    @Test
    void whoTakesOverAsksNobodyAndLateAcksOfTheOldHolderCount() {
        Consumer newcomer = consumer("n", Mode.TAKEOVER);
        line.join(a, 0);
        line.join(newcomer, 1);

        assertThat(said).containsExactly("a bound", "a taken", "a takenOver", "a left", "n bound", "n taken");
        assertThat(line.holders()).containsExactly(newcomer);
        assertThat(a.everBound()).isTrue();
    }

    @Test
    void whoStandsByWaitsBehindAllOthersAndProbesNobody() {
        Consumer spare = consumer("s", Mode.STANDBY);
        line.join(a, 0);
        line.join(spare, 0);
        assertThat(said).containsExactly("a bound", "a taken");

        line.join(b, 0);
        line.gone(a, true, 1);
        assertThat(line.holders()).containsExactly(b);

        line.gone(b, true, 2);
        assertThat(line.holders()).containsExactly(spare);
    }

    @Test
    void thoseWhoShareHoldItTogether() {
        Consumer x = consumer("x", Mode.SHARED);
        Consumer y = consumer("y", Mode.SHARED);
        line.join(x, 0);
        line.join(y, 0);
        assertThat(line.holders()).containsExactly(x, y);

        line.gone(x, true, 1);
        assertThat(line.holders()).containsExactly(y);
        assertThat(said).containsExactly("x bound", "x taken", "y bound", "y taken", "x lost");
    }

    @Test
    void whoWantsItAloneIsRefusedByThoseWhoShareAndProbesOneThatIsLeft() {
        Consumer x = consumer("x", Mode.SHARED);
        Consumer y = consumer("y", Mode.SHARED);
        line.join(x, 0);
        line.join(y, 0);
        said.clear();

        line.join(a, 0);
        assertThat(said).containsExactly("a refused");

        line.gone(y, true, 1);
        line.join(b, 2);
        assertThat(said).containsExactly("a refused", "y lost", "x probed");
    }

    @Test
    void whoWouldShareAsksOneThatHasItAlone() {
        Consumer x = consumer("x", Mode.SHARED);
        line.join(a, 0);
        line.join(x, 0);
        assertThat(said).containsExactly("a bound", "a taken", "a probed");

        line.life(a, true, 1);
        assertThat(said).endsWith("x refused");
    }

    @Test
    void whoIsRefusedByHandHasNothingToDoWithItAnyMore() {
        Consumer spare = consumer("s", Mode.STANDBY);
        line.join(a, 0);
        line.join(b, 0);
        line.join(spare, 0);
        said.clear();

        line.refuse(each -> each != spare, new RelayException(ErrorCode.PIPE_FAILED, "its disk is gone"));
        assertThat(said).containsExactly("a left", "a refused", "b refused");
        assertThat(line.isEmpty()).isFalse();

        line.join(c, 1);
        assertThat(line.holders()).containsExactly(c);
    }

    private Consumer consumer(String name, Mode mode) {
        BindOptions options = new BindOptions(
                BindOptions.Dialect.TWO,
                "s",
                new BindOptions.Start.Earliest(),
                10,
                1 << 20,
                1,
                false,
                mode,
                false,
                false);
        return new Consumer(new NamedSink(name), options, DeliveryConfig.DEFAULT);
    }

    private final class NamedSink implements DeliverySink {
        private final String name;

        NamedSink(String name) {
            this.name = name;
        }

        @Override
        public String toString() {
            return name;
        }

        @Override
        public void bound(@Nullable Bound answer) {
            said.add(name + " bound");
        }

        @Override
        public void refused(RelayException why) {
            said.add(name + " refused");
        }

        @Override
        public void probe() {
            said.add(name + " probed");
        }

        @Override
        public void takenOver() {
            said.add(name + " takenOver");
        }

        @Override
        public void unbound() {
            said.add(name + " unbound");
        }

        @Override
        public void ended() {
            said.add(name + " ended");
        }

        @Override
        public void acked(long[] firstIds, long[] lastIds) {
            said.add(name + " acked");
        }

        @Override
        public boolean writable() {
            return true;
        }

        @Override
        public long deliver(
                long id, long appendedAtMillis, int delivery, ByteBuffer payload, Map<String, String> headers) {
            return 0;
        }

        @Override
        public void flush() {}

        @Override
        public long writtenBytes() {
            return 0;
        }

        @Override
        public long lastWriteNanos() {
            return 0;
        }

        // two connections must never be taken for one because they look the same
        @Override
        public boolean equals(Object other) {
            return other instanceof NamedSink;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }
}
