package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** Pipes that share few places and are stepped by hand: real files, but no thread, and no clock but the test's. */
final class SteppedPipes implements AutoCloseable {
    final List<Stepped> pipes = new ArrayList<>();
    final OpenPlaces places;
    long nowNanos;
    private final DataDirectory directory;
    private final DeliveryContext delivery;

    /** One pipe, and the consumer that it has or had last. */
    final class Stepped {
        final PipeName name;
        final ArrayDeque<Runnable> diskWork = new ArrayDeque<>();
        final ArrayDeque<Runnable> commands = new ArrayDeque<>();
        final TransferLoop loop;
        RecordingSink sink = new RecordingSink();
        Consumer consumer = new Consumer(sink, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
        int opens;

        Stepped(int number) {
            name = new PipeName("p" + number);
            PipeContext context = new PipeContext(StoreConfig.DEFAULT, delivery, diskWork::add, places);
            loop = new TransferLoop(name, this::open, context, commands::add, new RelayMetrics().pipe(name));
        }

        private PipeStore open() {
            assertThat(state()).as("files of %s are open already", name).isEqualTo("OPENING");
            opens++;
            return PipeStore.open(directory.pipe(name), StoreConfig.DEFAULT, 1 << 20, () -> Instant.EPOCH);
        }

        int turn() {
            for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
                command.run();
            }
            return loop.doWork();
        }

        boolean diskStep() {
            Runnable task = diskWork.poll();
            if (task != null) {
                task.run();
            }
            return task != null;
        }

        Answer publish(String text) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            EventGroup group = new EventGroup(List.of(new Payload("text/plain", Map.of(), bytes)), null, 0);
            Answer answer = new Answer();
            loop.append(new WaitingAppend(group, null, PipeSettings.NONE, 0, answer));
            return answer;
        }

        /** Publishes what is not refused at once. */
        void append(String text) {
            assertThat(publish(text)).isNotCompletedExceptionally();
        }

        void bindAnew() {
            sink = new RecordingSink();
            consumer = new Consumer(sink, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
            loop.bind(consumer);
        }

        String state() {
            return loop.files().name();
        }

        Path folder() {
            return directory.pipe(name).path();
        }
    }

    SteppedPipes(Path folder, int count, int wanted, int most) {
        this(folder, count, wanted, most, PipeSettings.NONE);
    }

    /** All made with these settings. */
    SteppedPipes(Path folder, int count, int wanted, int most, PipeSettings settings) {
        directory = DataDirectory.open(folder.resolve("data"), () -> Instant.EPOCH, () -> "boot");
        for (int n = 0; n < count; n++) {
            directory.create(new PipeName("p" + n), settings);
        }
        delivery = new DeliveryContext(
                DeliveryConfig.DEFAULT, () -> nowNanos, () -> Instant.EPOCH.plusNanos(nowNanos), new Random(1));
        places = new OpenPlaces(wanted, most);
        for (int n = 0; n < count; n++) {
            pipes.add(new Stepped(n));
        }
    }

    /** Turns and disk work until nothing is left to do at this time. */
    void settle() {
        boolean worked = true;
        while (worked) {
            worked = false;
            nowNanos++;
            for (Stepped pipe : pipes) {
                worked |= pipe.turn() > 0;
                worked |= pipe.diskStep();
            }
            worked |= pipes.stream().anyMatch(pipe -> !pipe.commands.isEmpty());
        }
    }

    @Override
    public void close() {
        List<CompletableFuture<Void>> closed = new ArrayList<>();
        for (Stepped pipe : pipes) {
            closed.add(new CompletableFuture<>());
            pipe.loop.close(closed.get(closed.size() - 1));
        }
        settle();
        assertThat(closed).allMatch(CompletableFuture::isDone);
        directory.close();
    }
}
