package io.tabletrelay.harness.bench.server;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.Relay;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.RelayConfig;
import io.tabletrelay.core.config.ServerConfig;
import io.tabletrelay.core.config.StoreConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The relay itself, with its embedded publisher and its HTTP port, on an empty data folder.
 *
 * <p>Threading: as {@link ServedVariant} says; confirmations come on the relay's threads.
 */
final class RelayVariant implements ServedVariant {
    /** More wait for their confirmation at no time; half of them must be confirmed before it goes on. */
    private static final int MOST_AT_PROCESS = 4_096;

    /** Where each waits for the disk. */
    static final int MOST_AT_DISK = 1_024;
    /** More than that a pipe would refuse to hold. */
    private static final int MOST_BYTES_UNCONFIRMED = 16 << 20;

    private static final PipeName PIPE = new PipeName("bench");
    private static final int MANY_PIPES = 1_000;

    private final Load load;
    /** Published to in turn. */
    private final List<PipeName> pipes;

    private final int mostUnconfirmed;
    private final Relay relay;
    private final AtomicInteger unconfirmed = new AtomicInteger();
    private volatile @Nullable Thread publishing;
    private volatile @Nullable Throwable failure;

    private RelayVariant(Load load, Path data, List<PipeName> pipes, StoreConfig store, int mostUnconfirmed) {
        this.load = load;
        this.pipes = pipes;
        this.mostUnconfirmed = Math.min(mostUnconfirmed, MOST_BYTES_UNCONFIRMED / load.eventBytes());
        RelayConfig defaults = RelayConfig.defaults(data);
        DeliveryConfig delivery = defaults.delivery();
        this.relay = Relay.start(new RelayConfig(
                data,
                defaults.drainTimeout(),
                anyPort(),
                new HttpConfig(defaults.http().host(), 0, defaults.http().maxRequestBytes()),
                store,
                new DeliveryConfig(
                        load.windowEvents(),
                        delivery.maxAckSpread(),
                        delivery.takeoverProbe(),
                        delivery.redelivery())));
    }

    static RelayVariant atProcess(Load load, Path data) {
        return new RelayVariant(load, data, List.of(PIPE), StoreConfig.DEFAULT, MOST_AT_PROCESS);
    }

    /** With a thousand busy pipes. */
    static RelayVariant atProcessWithManyPipes(Load load, Path data) {
        List<PipeName> pipes = IntStream.range(0, MANY_PIPES)
                .mapToObj(n -> new PipeName("bench-" + n))
                .toList();
        return new RelayVariant(load, data, pipes, StoreConfig.DEFAULT, MOST_AT_PROCESS);
    }

    static RelayVariant atDisk(Load load, Path data) {
        StoreConfig usual = StoreConfig.DEFAULT;
        StoreConfig atDisk = new StoreConfig(
                usual.segmentBytes(),
                usual.maxEventBytes(),
                usual.maxBytes(),
                usual.maxEvents(),
                usual.diskReserveBytes(),
                Durability.DISK,
                usual.commit(),
                usual.whenFull(),
                usual.onDamage(),
                usual.retention());
        return new RelayVariant(load, data, List.of(PIPE), atDisk, MOST_AT_DISK);
    }

    /** The edge as it is by default, on a free port. */
    static ServerConfig anyPort() {
        ServerConfig usual = ServerConfig.DEFAULT;
        return new ServerConfig(
                usual.host(),
                0,
                usual.maxConnections(),
                usual.handshakeTimeout(),
                usual.heartbeat(),
                usual.heartbeatTimeout(),
                usual.maxUnsentBytes(),
                usual.slowConsumerTimeout());
    }

    @Override
    public int wsPort() {
        return relay.wsPort();
    }

    @Override
    public int httpPort() {
        return relay.httpPort();
    }

    @Override
    public void push(long events) throws IOException {
        ByteBuffer payload = ByteBuffer.allocate(load.eventBytes()).asReadOnlyBuffer();
        publishing = Thread.currentThread();
        for (long n = 0; n < events; n++) {
            if (unconfirmed.get() >= mostUnconfirmed) {
                awaitUnconfirmed(mostUnconfirmed / 2);
            }
            publish(pipes.get((int) (n % pipes.size())), payload.duplicate());
        }
        awaitUnconfirmed(0);
    }

    @Override
    public void pace(int eventsPerSecond, long events) throws InterruptedException {
        new Pacer(eventsPerSecond, load.eventBytes()).send(events, payload -> publish(pipes.get(0), payload));
    }

    /** Over HTTP, from outside: asking here would be work of the server that is measured. */
    @Override
    public long settled() {
        throw new UnsupportedOperationException("ask for the status of the pipe");
    }

    @Override
    public void stop() {
        relay.close();
    }

    private void publish(PipeName pipe, ByteBuffer payload) {
        unconfirmed.incrementAndGet();
        var unused = relay.publisher()
                .publish(pipe, "bytes", payload)
                .whenComplete((appended, refusal) -> answered(refusal));
    }

    private void answered(@Nullable Throwable refusal) {
        if (refusal != null) {
            failure = refusal;
        }
        int left = unconfirmed.decrementAndGet();
        if (left == mostUnconfirmed / 2 || left == 0) {
            LockSupport.unpark(publishing);
        }
    }

    private void awaitUnconfirmed(int most) throws IOException {
        while (unconfirmed.get() > most) {
            LockSupport.park(this);
        }
        Throwable refusal = failure;
        if (refusal != null) {
            throw new IOException("event was refused: reason=" + refusal.getMessage(), refusal);
        }
    }
}
