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
record PipeContext(StoreConfig store, DeliveryContext delivery, Executor ioThreads, OpenPlaces places) {}
