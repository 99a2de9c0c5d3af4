package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ObjectedAppendTest {
    /** Objects once the one before it was answered. */
    private static final class Objecting implements AppendListener {
        private final Answer before;
        private final List<ErrorCode> refusals = new ArrayList<>();

        Objecting(Answer before) {
            this.before = before;
        }

        @Override
        public void answered(@Nullable Appended appended, @Nullable Throwable refusal) {
            if (refusal instanceof RelayException known) {
                refusals.add(known.code());
            }
        }

        @Override
        public @Nullable RelayException objection() {
            return before.isDone() ? new RelayException(ErrorCode.OUT_OF_SEQUENCE, "not any more") : null;
        }
    }

    @Test
    void anAppendThatItsSenderDoesNotWantAnyMoreIsNotDone(@TempDir Path folder) {
        try (LoopRig rig = new LoopRig(folder.resolve("data"), StoreConfig.DEFAULT)) {
            Answer first = rig.publish(10);
            Objecting second = new Objecting(first);
            rig.loop.append(new WaitingAppend(rig.event(10), null, PipeSettings.NONE, rig.nowNanos, second));
            rig.settle();

            assertThat(second.refusals).containsExactly(ErrorCode.OUT_OF_SEQUENCE);
            assertThat(rig.loop.status().lastId()).isEqualTo(1);
        }
    }
}
