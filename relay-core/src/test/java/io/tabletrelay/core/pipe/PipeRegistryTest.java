package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.tabletrelay.core.store.folder.DataDirectory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PipeRegistryTest {
    private static final PipeName PLANT = new PipeName("plant");
    private static final PipeSettings V1 = new PipeSettings(Map.of("tablet-format", "v1"));

    private final RelayMetrics metrics = new RelayMetrics();
    private final DataDirectory directory;
    private final PipeRegistry pipes;

    PipeRegistryTest(@TempDir Path folder) {
        directory = DataDirectory.open(folder.resolve("data"), Clock.systemUTC(), () -> "boot");
        DeliveryContext delivery =
                new DeliveryContext(DeliveryConfig.DEFAULT, System::nanoTime, Clock.systemUTC(), new Random(1));
        pipes = new PipeRegistry(directory, StoreConfig.DEFAULT, delivery, 1, 100, metrics);
    }

    @AfterEach
    void close() {
        pipes.close();
        directory.close();
        metrics.close();
    }

    @Test
    void aPipeIsMadeOnceWithItsSettings() {
        assertThat(done(pipes.create(PLANT, V1))).isTrue();

        assertThat(done(pipes.create(PLANT, V1))).isFalse();
        assertThat(refusal(pipes.create(PLANT, PipeSettings.NONE)).code()).isEqualTo(ErrorCode.PIPE_EXISTS);
        assertThat(pipes.glances()).extracting(PipeGlance::name).containsExactly("plant");
        assertThat(pipes.settings(PLANT)).isEqualTo(V1);
        assertThat(done(pipes.pipe(PLANT).status()).settings()).isEqualTo(V1.values());
    }

    @Test
    void aPipeOfFirstUseHasNoSettings() {
        assertThat(done(append(PipeSettings.NONE)).firstId()).isEqualTo(1);

        assertThat(pipes.settings(PLANT)).isEqualTo(PipeSettings.NONE);
        assertThat(done(pipes.pipe(PLANT).status()).settings()).isEmpty();
        assertThat(refusal(pipes.create(PLANT, V1)).code()).isEqualTo(ErrorCode.PIPE_EXISTS);
    }

    @Test
    void whatWasMadeForOtherSettingsIsRefusedAndMayBeSentAgain() {
        done(pipes.create(PLANT, V1));

        RelayException refusal = refusal(append(PipeSettings.NONE));

        assertThat(refusal.code()).isEqualTo(ErrorCode.BUSY);
        assertThat(refusal)
                .hasMessage("pipe was made while an event was prepared for another one: pipe=plant,"
                        + " settings={tablet-format=v1}, prepared for={}; publish it again");
        assertThat(done(append(V1)).firstId()).isEqualTo(1);
    }

    /** Whoever comes first decides; nobody's events stand in a pipe of other settings. */
    @Test
    void aPipeThatIsMadeAndUsedAtTheSameTimeHasOneKindOfSettings() {
        for (int i = 0; i < 50; i++) {
            PipeName name = new PipeName("race " + i);
            List<CompletableFuture<Boolean>> creations = IntStream.range(0, 2)
                    .mapToObj(n -> pipes.create(name, V1).toCompletableFuture())
                    .toList();
            CompletableFuture<Appended> used = append(name, PipeSettings.NONE).toCompletableFuture();
            await(used);
            creations.forEach(PipeRegistryTest::await);

            boolean isV1 = pipes.settings(name).equals(V1);
            long made = creations.stream()
                    .filter(creation -> !creation.isCompletedExceptionally() && creation.join())
                    .count();
            assertThat(made).as("creations that made %s", name).isEqualTo(isV1 ? 1 : 0);
            assertThat(used.isCompletedExceptionally()).as("use of %s", name).isEqualTo(isV1);
        }
    }

    @Test
    void aListOpensNoPipeAndShowsWhatIsKnown() {
        done(pipes.create(PLANT, PipeSettings.NONE));

        assertThat(pipes.glances())
                .containsExactly(new PipeGlance("plant", "OPEN", "", false, false, null, null, 0, false))
                .isEqualTo(pipes.glances());

        done(append(PipeSettings.NONE));
        Awaitility.await("the list knows the event")
                .atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(pipes.glances())
                        .containsExactly(new PipeGlance("plant", "OPEN", "", true, false, 1L, 1L, 0, false)));
    }

    private CompletionStage<Appended> append(PipeSettings madeFor) {
        return append(PLANT, madeFor);
    }

    private CompletionStage<Appended> append(PipeName name, PipeSettings madeFor) {
        Payload payload = new Payload("text/plain", Map.of(), ByteBuffer.allocate(1));
        Answer answer = new Answer();
        pipes.pipe(name).append(List.of(payload), null, madeFor, answer);
        return answer;
    }

    private static <T> T done(CompletionStage<T> stage) {
        return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
    }

    private static void await(CompletableFuture<?> future) {
        future.handle((value, failure) -> "").orTimeout(20, TimeUnit.SECONDS).join();
    }

    private static RelayException refusal(CompletionStage<?> stage) {
        return stage.handle((value, failure) -> (RelayException)
                        (failure instanceof CompletionException wrapped ? wrapped.getCause() : failure))
                .toCompletableFuture()
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
    }
}
