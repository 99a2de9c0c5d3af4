package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.config.TransferQuotaConfig;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.delivery.TransferQuota;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * A pipe's loop on real files that a test steps by hand, with no clock but the test's.
 *
 * <p>Threading: confined to the test's thread.
 */
final class LoopRig implements AutoCloseable {
    static final PipeName PIPE = new PipeName("p");
    private static final int MOST_TURNS = 10_000;
    static final long SECOND = 1_000_000_000L;

    final RecordingSink sink = new RecordingSink();
    final Consumer consumer = new Consumer(sink, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
    final PipeMetrics metrics = new RelayMetrics().pipe(PIPE);
    final ArrayDeque<Runnable> diskWork = new ArrayDeque<>();
    private final ArrayDeque<Runnable> commands = new ArrayDeque<>();
    private final Path data;
    private final StoreConfig config;
    private final DeliveryConfig deliveryConfig;
    private DataDirectory directory;
    TransferLoop loop;
    final TransferQuota quota = new TransferQuota(TransferQuotaConfig.DEFAULT);
    long nowNanos = 1_000 * SECOND;

    LoopRig(Path data, StoreConfig config) {
        this(data, config, DeliveryConfig.DEFAULT);
    }

    LoopRig(Path data, StoreConfig config, DeliveryConfig delivery) {
        this.data = data;
        this.config = config;
        this.deliveryConfig = delivery;
        directory = openDirectory();
        loop = newLoop();
        settle();
    }

    Path data() {
        return data;
    }

    Path events() {
        return directory.pipe(PIPE).eventsFolder();
    }

    /** Deletes what says which events are settled, as somebody else would. */
    void deleteSettled() throws IOException {
        deleteAll(directory.pipe(PIPE).settledFile("default"));
    }

    void deleteEvents() throws IOException {
        deleteAll(events());
    }

    void deletePipe() throws IOException {
        deleteAll(directory.pipe(PIPE).path());
    }

    private static void deleteAll(Path path) throws IOException {
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }

    /** Allocated space of the log's files. */
    long bytesOnDisk() throws IOException {
        Process du = new ProcessBuilder("du", "-sk", events().toString()).start();
        try (BufferedReader said = du.inputReader()) {
            return Long.parseLong(said.readLine().split("\\s", 2)[0]) << 10;
        }
    }

    /** Closes the pipe and opens it again, as a restart of the relay does. */
    void reopen() {
        close();
        directory = openDirectory();
        loop = newLoop();
        settle();
    }

    int turn() {
        try {
            for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
                command.run();
            }
            return loop.doWork();
        } catch (RuntimeException failure) {
            loop.fail(failure);
            return 1;
        }
    }

    /** When the loop wants a turn though nothing happens; -1: never. */
    long deadlineNanos() {
        long never = nowNanos + (Long.MAX_VALUE >> 1);
        long deadline = loop.nextDeadlineNanos(never);
        return deadline == never ? -1 : deadline;
    }

    /** A command for the next turn, as a connection's thread gives it. */
    void submit(Runnable command) {
        commands.add(command);
    }

    /** One disk task, if there is one. */
    void diskStep() {
        Runnable task = diskWork.poll();
        if (task != null) {
            task.run();
        }
    }

    /** Turns and disk work until nothing is left to do. */
    void settle() {
        for (int turns = 0; turn() > 0 || !diskWork.isEmpty() || !commands.isEmpty(); turns++) {
            if (turns > MOST_TURNS) {
                throw new AssertionError("the loop works without end: turns=" + turns);
            }
            for (Runnable task = diskWork.poll(); task != null; task = diskWork.poll()) {
                task.run();
            }
        }
    }

    Answer publish(int bytes) {
        return publish(event(bytes));
    }

    EventGroup event(int bytes) {
        return events(1, bytes);
    }

    EventGroup events(int count, int bytes) {
        Payload payload = new Payload("b", Map.of(), ByteBuffer.allocate(bytes));
        return new EventGroup(Collections.nCopies(count, payload), null, nowNanos / 1_000_000);
    }

    Answer publish(EventGroup group) {
        Answer answer = new Answer();
        offer(group, answer);
        settle();
        return answer;
    }

    /** Hands the publish over and takes no step. */
    void offer(EventGroup group, Answer answer) {
        loop.append(new WaitingAppend(group, null, PipeSettings.NONE, nowNanos, answer));
    }

    /** Publishes events of that size until the newest has this id. */
    void publishUpTo(long lastId, int bytes) {
        while (loop.status().lastId() < lastId) {
            publish(bytes).join();
        }
    }

    void bind() {
        loop.bind(consumer);
        settle();
    }

    void ackUpTo(long first, long last) {
        for (long id = first; id <= last; id++) {
            loop.lines(consumer, Said.acks(id));
            settle(); // what follows must be delivered before it is acked
        }
    }

    private DataDirectory openDirectory() {
        return DataDirectory.open(data, () -> Instant.EPOCH, () -> "boot");
    }

    private TransferLoop newLoop() {
        DeliveryContext delivery = new DeliveryContext(
                deliveryConfig, () -> nowNanos, () -> Instant.ofEpochMilli(nowNanos / 1_000_000), new Random(1), quota);
        DataDirectory of = directory;
        return new TransferLoop(
                PIPE,
                () -> PipeStore.open(of.pipe(PIPE), config, 1 << 20, () -> Instant.EPOCH),
                new PipeContext(config, delivery, diskWork::add, OpenPlaces.unlimited()),
                commands::add,
                metrics);
    }

    @Override
    public void close() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        loop.close(closed);
        settle();
        directory.close();
    }
}
