package io.tabletrelay.harness.store;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.DeliveryContext;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.pipe.PipeRegistry;
import io.tabletrelay.core.store.folder.BootId;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.log.EventLogs;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that appends events to a pipe, finishes it and says so; then it waits to be killed.
 *
 * <p>Threading: the main thread hands over, the pipe's threads answer.
 */
final class FinishingPipe {
    private FinishingPipe() {}

    /** Arguments: the data directory, the pipe, how many events. */
    public static void main(String[] arguments) {
        EventLogs.prepare();
        DataDirectory directory = DataDirectory.open(Path.of(arguments[0]), InstantSource.system(), BootId::current);
        PipeRegistry pipes = new PipeRegistry(
                directory,
                StoreConfig.DEFAULT,
                new DeliveryContext(DeliveryConfig.DEFAULT, System::nanoTime, InstantSource.system(), new Random(1)),
                1,
                10,
                new RelayMetrics());
        Pipe pipe = pipes.pipe(new PipeName(arguments[1]));
        for (long number = 1; number <= Long.parseLong(arguments[2]); number++) {
            ByteBuffer bytes = ByteBuffer.allocate(100).putLong(0, number);
            pipe.append(List.of(new Payload("b", Map.of(), bytes)), null, PipeSettings.NONE, (appended, refusal) -> {});
        }
        System.out.println("finished at " + pipe.finish().toCompletableFuture().join());
        while (true) {
            LockSupport.park();
        }
    }
}
