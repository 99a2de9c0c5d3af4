package io.tabletrelay.core.pipe;

import io.tabletrelay.core.delivery.DiskTasks;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A pipe's disk tasks for one of its subscriptions, which can be asked whether any of them is under way.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class TrackedDiskTasks implements DiskTasks {
    private final DiskTasks diskTasks;
    private int underWay;

    TrackedDiskTasks(DiskTasks diskTasks) {
        this.diskTasks = diskTasks;
    }

    @Override
    public void submit(Runnable work, Consumer<@Nullable Throwable> then) {
        underWay++;
        diskTasks.submit(work, failure -> {
            try {
                then.accept(failure);
            } finally {
                underWay--; // what follows was counted before
            }
        });
    }

    boolean isIdle() {
        return underWay == 0;
    }
}
