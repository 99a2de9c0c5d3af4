package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.core.config.ServerConfig;
import io.tabletrelay.core.server.PeerWatch.Signs;
import io.tabletrelay.core.server.PeerWatch.Verdict;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PeerWatchTest {
    private static final ServerConfig CONFIG = new ServerConfig(
            "127.0.0.1",
            0,
            1,
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            1000,
            Duration.ofSeconds(20));

    private final PeerWatch watch = new PeerWatch(CONFIG, 0);

    private Verdict at(int seconds, Signs signs) {
        return watch.judge(signs, TimeUnit.SECONDS.toNanos(seconds));
    }

    private static Signs alive(int lifeSeconds, long unsentBytes, long writtenBytes) {
        return new Signs(false, 0, TimeUnit.SECONDS.toNanos(lifeSeconds), unsentBytes, writtenBytes);
    }

    private static Signs handshaking(int sinceSeconds) {
        return new Signs(true, TimeUnit.SECONDS.toNanos(sinceSeconds), 0, 0, 0);
    }

    @Test
    void aPeerIsPingedOnceAHeartbeat() {
        assertThat(at(9, alive(9, 0, 0))).isEqualTo(Verdict.LEAVE);
        assertThat(at(10, alive(9, 0, 0))).isEqualTo(Verdict.PING);
        assertThat(at(11, alive(9, 0, 0))).isEqualTo(Verdict.LEAVE);
        assertThat(at(20, alive(9, 0, 0))).isEqualTo(Verdict.PING);
    }

    @Test
    void aPeerThatHasBytesWaitingIsNotPingedBehindThem() {
        assertThat(at(10, alive(9, 500, 1))).isEqualTo(Verdict.LEAVE);
    }

    @Test
    void aSilentPeerIsGivenUpAfterTheTimeoutAndNotBefore() {
        assertThat(at(35, alive(5, 0, 0))).isNotEqualTo(Verdict.SILENT);
        assertThat(at(36, alive(5, 0, 0))).isEqualTo(Verdict.SILENT);
    }

    @Test
    void aSilentPeerForWhichBytesWaitIsSlow() {
        at(34, alive(5, 500, 1));

        assertThat(at(35, alive(5, 500, 1))).isEqualTo(Verdict.LEAVE);
        assertThat(at(36, alive(5, 500, 1))).isEqualTo(Verdict.SLOW);
    }

    @Test
    void aPeerWhoseBytesStandStillIsSlowAndOneWhoseBytesMoveIsNot() {
        for (int second = 0; second <= 100; second++) {
            assertThat(at(second, alive(second, 500, second))).isNotEqualTo(Verdict.SLOW);
        }
        assertThat(at(120, alive(120, 500, 100))).isNotEqualTo(Verdict.SLOW);
        assertThat(at(121, alive(121, 500, 100))).isEqualTo(Verdict.SLOW);
    }

    @Test
    void bytesGivenAfterALongSilenceHaveTheWholeTimeout() {
        at(1, alive(1, 0, 100));
        at(99, alive(99, 0, 100));

        assertThat(at(100, alive(99, 500, 100))).isNotEqualTo(Verdict.SLOW);
        assertThat(at(119, alive(99, 500, 100))).isNotEqualTo(Verdict.SLOW);
        assertThat(at(120, alive(99, 500, 100))).isEqualTo(Verdict.SLOW);
    }

    @Test
    void aHandshakeOpeningOrClosingHasItsOwnTimeout() {
        assertThat(at(45, handshaking(40))).isEqualTo(Verdict.LEAVE);
        assertThat(at(46, handshaking(40))).isEqualTo(Verdict.HANDSHAKE_OVERDUE);
    }
}
