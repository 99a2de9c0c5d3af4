package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.metrics.RelayMetrics;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A pipe whose store never opens, since no disk thread runs; its clock stands still. */
class LoopedPipeTest {
    private final TransferThread thread = new TransferThread(0, () -> 0);
    private final LoopedPipe pipe = new LoopedPipe(
            new PipeName("p"),
            () -> {
                throw new AssertionError("no disk thread runs");
            },
            thread,
            new PipeContext(
                    StoreConfig.DEFAULT,
                    new DeliveryContext(DeliveryConfig.DEFAULT, () -> 0, () -> Instant.EPOCH, new Random(1)),
                    neverRun -> {},
                    OpenPlaces.unlimited()),
            new RelayMetrics().pipe(new PipeName("p")));

    @AfterEach
    void stop() {
        thread.stop();
    }

    @Test
    void aPublishCountsAsWaitingUntilItIsAnswered() {
        CompletableFuture<Appended> first = publish(40 << 20);
        pipe.turn();
        assertThat(first).isNotDone();

        assertThat(publish(40 << 20))
                .isCompletedExceptionally()
                .satisfies(refused -> assertThat(refused.handle((ids, failure) -> ((RelayException) failure).code())
                                .join())
                        .isEqualTo(ErrorCode.BUSY));

        var unused = pipe.stopSending();
        pipe.turn();
        assertThat(first).isCompletedExceptionally();
        assertThat(publish(40 << 20)).isNotDone();
    }

    @Test
    void aCommandBehindOneThatFailedRunsWithoutBeingAskedForAgain() {
        CompletableFuture<Void> ran = new CompletableFuture<>();
        pipe.submit(loop -> {
            throw new IllegalStateException("this command is broken");
        });
        pipe.submit(loop -> ran.complete(null));

        thread.start();

        await("the second command runs").atMost(Duration.ofSeconds(5)).until(ran::isDone);
    }

    private CompletableFuture<Appended> publish(int payloadBytes) {
        Payload payload = new Payload("text/plain", Map.of(), ByteBuffer.allocate(payloadBytes));
        Answer answer = new Answer();
        pipe.append(List.of(payload), null, PipeSettings.NONE, answer);
        return answer;
    }
}
