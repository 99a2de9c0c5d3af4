package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.config.WhenFull;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.store.folder.DataDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Pipes that are deleted while they are used. */
class DeletedPipeTest {
    private static final PipeName PLANT = new PipeName("plant");
    private static final int MOST_EVENTS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RelayMetrics metrics = new RelayMetrics();
    private final Path data;
    private final DataDirectory directory;
    private final PipeRegistry pipes;

    DeletedPipeTest(@TempDir Path folder) {
        data = folder.resolve("data");
        directory = DataDirectory.open(data, Clock.systemUTC(), () -> "boot");
        DeliveryContext delivery =
                new DeliveryContext(DeliveryConfig.DEFAULT, System::nanoTime, Clock.systemUTC(), new Random(1));
        StoreConfig usual = StoreConfig.DEFAULT;
        StoreConfig blocking = new StoreConfig(
                usual.segmentBytes(),
                usual.maxEventBytes(),
                0,
                MOST_EVENTS,
                0,
                usual.durability(),
                usual.commit(),
                new FullConfig(WhenFull.BLOCK, PATIENCE.multipliedBy(10)),
                usual.onDamage(),
                usual.retention());
        pipes = new PipeRegistry(directory, blocking, delivery, 1, 100, metrics);
    }

    @AfterEach
    void close() {
        pipes.close();
        directory.close();
        metrics.close();
    }

    @Test
    void aConsumersLateAckAndItsLateGoodbyeNeverReachThePipeThatIsMadeAnew() {
        RecordingSink old = new RecordingSink();
        ConsumerLink link = pipes.pipe(PLANT).bind(old, BindOptions.DIALECT_1);
        append("a");
        append("b");
        await("both delivered").atMost(PATIENCE).until(() -> old.ids.size() == 2);

        done(pipes.delete(PLANT, null));

        assertThat(old.said).containsExactly("bound", "refused");
        long first = append("c").firstId();
        assertThat(first).isGreaterThan(2);
        RecordingSink next = new RecordingSink();
        ConsumerLink nextLink = pipes.pipe(PLANT).bind(next, BindOptions.DIALECT_1);
        await("delivered").atMost(PATIENCE).until(() -> next.ids.contains(first));
        link.ack(first, first);
        link.ack(1, 1);
        link.nack(first, ConsumerLink.BACKOFF, "late");
        link.gone();
        assertThat(done(pipes.pipe(PLANT).status()).inFlight()).isEqualTo(1);
        assertThat(done(pipes.pipe(PLANT).status()).consumer()).isTrue();
        assertThat(next.ids).containsExactly(first);
        nextLink.ack(first, first);
        await("acked")
                .atMost(PATIENCE)
                .until(() -> done(pipes.pipe(PLANT).status()).floor() == first);
    }

    @Test
    void whoHoldsThePipeFromBeforeIsRefusedForEver() {
        Pipe old = pipes.pipe(PLANT);
        append("a");

        done(pipes.delete(PLANT, null));
        append("b");

        RecordingSink sink = new RecordingSink();
        old.bind(sink, BindOptions.DIALECT_1);
        await("refused").atMost(PATIENCE).until(() -> sink.said.contains("refused"));
        assertThat(refusal(append(old, "c")).code()).isEqualTo(ErrorCode.NO_SUCH_PIPE);
        assertThat(refusal(old.finish()).code()).isEqualTo(ErrorCode.NO_SUCH_PIPE);
        assertThat(refusal(old.stateOf(1)).code()).isEqualTo(ErrorCode.NO_SUCH_PIPE);
        assertThat(done(pipes.pipe(PLANT).status()).finishedAtId()).isNull();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void publishesThatWaitForRoomAreRefusedAtOnceAndNoFileStaysOpen() throws IOException {
        Pipe pipe = pipes.pipe(PLANT);
        for (int i = 0; i < MOST_EVENTS; i++) {
            append("a");
        }
        List<Answer> blocked = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            blocked.add(append(pipe, "b"));
        }
        assertThat(done(pipe.status()).lastId()).isEqualTo(MOST_EVENTS);
        assertThat(blocked).noneMatch(Answer::isDone);
        assertThat(openFiles()).anyMatch(file -> file.contains("pipes/plant"));

        done(pipes.delete(PLANT, null));

        assertThat(blocked)
                .allSatisfy(answer -> assertThat(refusal(answer).code()).isEqualTo(ErrorCode.NO_SUCH_PIPE));
        await("closed, which the library does in its own time")
                .atMost(PATIENCE)
                .until(() -> openFiles().stream()
                        .noneMatch(file -> file.contains("pipes/plant") || file.contains("deleted/plant")));
        try (Stream<Path> left = Files.list(data.resolve("deleted"))) {
            assertThat(left).isEmpty();
        }
        assertThat(new String(metrics.prometheusText(), StandardCharsets.UTF_8)).doesNotContain("plant");
    }

    @Test
    void aFailedPipeIsDeletedAndTheNextOneIsWell() throws IOException {
        done(pipes.create(PLANT, PipeSettings.NONE));
        directory.pipe(PLANT).raiseIdMark(40);
        Files.writeString(directory.pipe(PLANT).path().resolve("subscriptions"), "no folder");
        assertThat(refusal(append(pipes.pipe(PLANT), "a")).code()).isEqualTo(ErrorCode.PIPE_FAILED);
        await("it is shown")
                .atMost(PATIENCE)
                .until(() -> pipes.glances().get(0).state().equals("FAILED"));

        done(pipes.delete(PLANT, null));

        assertThat(pipes.glances()).isEmpty();
        assertThat(append("b").firstId()).isGreaterThan(40);
        assertThat(done(pipes.pipe(PLANT).status()).state()).isEqualTo("OPEN");
    }

    @Test
    void onlyOneOfManyDeletionsDeletesAndNoneTheNextPipe() {
        append("a");

        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(pipes.delete(PLANT, null).toCompletableFuture());
        }
        all.forEach(DeletedPipeTest::refusalOrNull);

        assertThat(all).filteredOn(each -> !each.isCompletedExceptionally()).hasSize(1);
        append("b");
        assertThat(refusal(pipes.delete(PLANT, 7L))).isInstanceOf(WrongVersionException.class);
        assertThat(directory.exists(PLANT)).isTrue();
    }

    @Test
    void aPipeThatNobodyHasUsedYetIsDeletedWithItsVersion() {
        done(pipes.create(PLANT, PipeSettings.NONE));

        assertThat(refusal(pipes.delete(PLANT, 2L))).isInstanceOf(WrongVersionException.class);
        done(pipes.delete(PLANT, 1L));

        assertThat(pipes.glances()).isEmpty();
        assertThat(refusal(pipes.delete(PLANT, null)).code()).isEqualTo(ErrorCode.NO_SUCH_PIPE);
    }

    private Appended append(String text) {
        Answer answer = append(pipes.pipe(PLANT), text);
        return answer.orTimeout(30, TimeUnit.SECONDS).join();
    }

    private static Answer append(Pipe pipe, String text) {
        Answer answer = new Answer();
        pipe.append(List.of(payload(text)), null, PipeSettings.NONE, answer);
        return answer;
    }

    private static Payload payload(String text) {
        return new Payload("text/plain", Map.of(), ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static List<String> openFiles() throws IOException {
        List<String> names = new ArrayList<>();
        try (Stream<Path> handles = Files.list(Path.of("/proc/self/fd"))) {
            for (Path handle : handles.toList()) {
                if (Files.isSymbolicLink(handle)) {
                    names.add(Files.readSymbolicLink(handle).toString());
                }
            }
        }
        return names;
    }

    private static <T> T done(CompletionStage<T> stage) {
        return stage.toCompletableFuture().orTimeout(30, TimeUnit.SECONDS).join();
    }

    private static RelayException refusal(CompletionStage<?> stage) {
        return Objects.requireNonNull(refusalOrNull(stage), "refusal");
    }

    private static @Nullable RelayException refusalOrNull(CompletionStage<?> stage) {
        try {
            done(stage);
            return null;
        } catch (CompletionException e) {
            return (RelayException) e.getCause();
        }
    }
}
