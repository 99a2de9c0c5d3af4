package io.tabletrelay.harness.bench.server;

import io.tabletrelay.core.server.EdgeEvents;
import io.tabletrelay.core.server.EventIntake;
import io.tabletrelay.core.server.RelayServer;
import java.time.Duration;

/**
 * This relay's edge, with gathered writes, in front of a pipe without a store.
 *
 * <p>Threading: as {@link ServedVariant} says.
 */
final class GatheredVariant implements ServedVariant {
    private final Load load;
    private final Pusher pusher;
    private final RelayServer server;

    GatheredVariant(Load load) {
        this.load = load;
        this.pusher = new Pusher(load.windowEvents(), load.eventBytes());
        this.server = new RelayServer(
                RelayVariant.anyPort(),
                name -> new MemoryPipe(name, pusher),
                EventIntake.NONE,
                EdgeEvents.NONE,
                System::nanoTime);
        server.start();
    }

    @Override
    public int wsPort() {
        return server.port();
    }

    @Override
    public void push(long events) {
        pusher.push(events);
    }

    @Override
    public void pace(int eventsPerSecond, long events) throws InterruptedException {
        new Pacer(eventsPerSecond, load.eventBytes()).send(events, pusher::offer);
    }

    @Override
    public long settled() {
        return pusher.settled();
    }

    @Override
    public void stop() throws InterruptedException {
        server.stop(Duration.ofSeconds(1));
        pusher.stop();
    }
}
