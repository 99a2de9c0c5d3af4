package io.tabletrelay.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.config.TransferQuotaConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransferQuotaTest {
    private final TransferQuota quota = new TransferQuota(new TransferQuotaConfig(1_000, 400));
    private final AtomicInteger wakes = new AtomicInteger();

    @Test
    void aConsumerWithNothingInFlightMayAlwaysTakeOneEvent() {
        TransferQuota.Share hog = quota.open(0, () -> {});
        hog.sent(5_000);

        TransferQuota.Share other = quota.open(0, () -> {});

        assertThat(other.mayTake()).isTrue();
        other.sent(10);
        assertThat(other.mayTake()).isFalse();
    }

    @Test
    void consumersThatTakeAllTheyGetLeaveAsMuchForTheNextOne() {
        TransferQuota.Share first = quota.open(0, () -> {});
        TransferQuota.Share second = quota.open(0, () -> {});
        long ofFirst = takeAll(first);
        long ofSecond = takeAll(second);

        assertThat(ofFirst).isEqualTo(500);
        assertThat(ofSecond).isEqualTo(250);
        assertThat(quota.unwrittenBytes()).isEqualTo(750);
    }

    @Test
    void eventsInFlightAreBoundedToo() {
        TransferQuota.Share share = quota.open(0, () -> {});
        int sent = 0;
        for (; share.mayTake(); sent++) {
            share.sent(0);
        }

        assertThat(sent).isEqualTo(200);
        share.returned(1);
        assertThat(share.mayTake()).isTrue();
        assertThat(quota.inFlightEvents()).isEqualTo(199);
    }

    @Test
    void theRefusedOneIsWokenOnceWhenAnotherOnesBytesAreWritten() {
        TransferQuota.Share hog = quota.open(0, () -> {});
        hog.sent(990);
        TransferQuota.Share refused = quota.open(0, wakes::incrementAndGet);
        refused.sent(100);
        assertThat(refused.mayTake()).isFalse();

        hog.written(10);
        assertThat(wakes).hasValue(0);
        hog.written(900);
        hog.written(990);

        assertThat(wakes).hasValue(1);
        assertThat(refused.mayTake()).isTrue();
    }

    @Test
    void theRefusedOneIsWokenWhenItsOwnBytesAreWritten() {
        TransferQuota.Share share = quota.open(0, wakes::incrementAndGet);
        share.sent(600);
        assertThat(share.mayTake()).isFalse();

        share.written(600);

        assertThat(wakes).hasValue(1);
    }

    @Test
    void aClosedShareHasGivenEverythingBackAndWaitsNoMore() {
        TransferQuota.Share hog = quota.open(0, () -> {});
        hog.sent(990);
        TransferQuota.Share closed = quota.open(0, wakes::incrementAndGet);
        closed.sent(100);
        assertThat(closed.mayTake()).isFalse();

        closed.close();
        closed.written(100);
        closed.returned(1);
        closed.close();
        hog.close();

        assertThat(wakes).hasValue(0);
        assertThat(quota.waitingCount()).isZero();
        assertThat(quota.unwrittenBytes()).isZero();
        assertThat(quota.inFlightEvents()).isZero();
    }

    @Test
    void aConnectionThatIsBoundAgainCountsOnlyWhatItIsGivenNow() {
        TransferQuota.Share share = quota.open(10_000, () -> {});

        share.written(9_000);
        share.sent(10_100);

        assertThat(quota.unwrittenBytes()).isEqualTo(100);
    }

    @Test
    void bytesThatReachTheSocketBeforeTheirEventIsCountedAreNotCounted() {
        TransferQuota.Share share = quota.open(0, () -> {});

        share.written(80);
        share.sent(100);

        assertThat(quota.unwrittenBytes()).isEqualTo(20);
        share.written(100);
        assertThat(quota.unwrittenBytes()).isZero();
    }

    @Test
    void theWakeRunsWithoutALockSoThatItMayAskAgain() {
        List<TransferQuota.Share> woken = new ArrayList<>();
        TransferQuota.Share hog = quota.open(0, () -> {});
        hog.sent(990);
        TransferQuota.Share[] refused = new TransferQuota.Share[1];
        refused[0] = quota.open(0, () -> {
            if (refused[0].mayTake()) {
                woken.add(refused[0]);
            }
        });
        refused[0].sent(100);
        refused[0].mayTake();

        hog.close();

        assertThat(woken).containsExactly(refused[0]);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void nobodyWithRoomIsLeftWaitingAndTheLimitIsPassedByAnEventEachAtMost(long seed) {
        Random random = new Random(seed);
        int n = 20;
        boolean[] asleep = new boolean[n];
        long[] given = new long[n];
        long[] written = new long[n];
        int[] inFlight = new int[n];
        List<TransferQuota.Share> shares = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int each = i;
            shares.add(quota.open(0, () -> asleep[each] = false));
        }

        for (int step = 0; step < 20_000; step++) {
            int i = random.nextInt(n);
            switch (random.nextInt(3)) {
                case 0 -> {
                    if (!asleep[i]) {
                        asleep[i] = !shares.get(i).mayTake();
                        if (!asleep[i]) {
                            given[i] += random.nextInt(60);
                            inFlight[i]++;
                            shares.get(i).sent(given[i]);
                        }
                    }
                }
                case 1 -> {
                    written[i] += random.nextLong(given[i] - written[i] + 1);
                    shares.get(i).written(written[i]);
                }
                default -> {
                    int settled = random.nextInt(inFlight[i] + 1);
                    inFlight[i] -= settled;
                    shares.get(i).returned(settled);
                }
            }

            long bytes = 0;
            long events = 0;
            for (int j = 0; j < n; j++) {
                bytes += given[j] - written[j];
                events += inFlight[j];
            }
            assertThat(quota.unwrittenBytes()).as("seed %d", seed).isEqualTo(bytes);
            assertThat(quota.inFlightEvents()).as("seed %d", seed).isEqualTo(events);
            assertThat(bytes).as("seed %d", seed).isLessThan(1_000 + n * 60L);
            assertThat(events).as("seed %d", seed).isLessThanOrEqualTo(400 + n);
            for (int j = 0; j < n; j++) {
                boolean room =
                        inFlight[j] == 0 || (given[j] - written[j] < 1_000 - bytes && inFlight[j] < 400 - events);
                assertThat(asleep[j] && room)
                        .as("seed %d: %d sleeps and has room", seed, j)
                        .isFalse();
            }
        }
    }

    private static long takeAll(TransferQuota.Share share) {
        long given = 0;
        while (share.mayTake()) {
            given += 10;
            share.sent(given);
        }
        return given;
    }
}
