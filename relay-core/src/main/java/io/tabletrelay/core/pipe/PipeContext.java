package io.tabletrelay.core.pipe;

import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.DeliveryContext;
import java.util.concurrent.Executor;

/**
 * What every pipe of a relay is given.
 *
 * <p>Threading: immutable.
 *
 * @param ioThreads run what may block on a disk
 * @param places how many pipes are open at a time
 */
record PipeContext(StoreConfig store, DeliveryContext delivery, Executor ioThreads, OpenPlaces places) {
    /** The same for one pipe, which has a turn by {@code wake}. */
    PipeContext ofPipe(Runnable wake) {
        return new PipeContext(store, delivery.ofPipe(wake), ioThreads, places);
    }
}
