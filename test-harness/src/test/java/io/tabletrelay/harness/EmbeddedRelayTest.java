package io.tabletrelay.harness;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EmbeddedRelayTest {
    private final History history = new History();

    @Test
    void wholeLinesAreRecorded() {
        EmbeddedRelay.record("publishing 0 run-1-7 .", history);
        EmbeddedRelay.record("confirmed 12 run-1-7 .", history);

        assertThat(history.unacked()).containsExactly(12L);
    }

    @Test
    void aLineThatTheKillCutOffIsNot() {
        EmbeddedRelay.record("confirmed 12 run-1-7 ", history);
        EmbeddedRelay.record("confirmed 1", history);
        EmbeddedRelay.record("2026-11-30 INFO confirmed 3 x .", history);

        assertThat(history.unacked()).isEmpty();
    }
}
