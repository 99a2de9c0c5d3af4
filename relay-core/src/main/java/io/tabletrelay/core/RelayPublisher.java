package io.tabletrelay.core;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.Publisher;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.delivery.RelayHeaders;
import io.tabletrelay.core.metrics.RelayMetrics;
import io.tabletrelay.core.metrics.SerializerMetrics;
import io.tabletrelay.core.pipe.AppendListener;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.plugin.GuardedSerializer;
import io.tabletrelay.core.plugin.SerializerRegistry;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * From a source's bytes to the pipe's append: serializes on a pool of its own and appends in the order in which a
 * producer's publishes came. A pipe is looked up, and so made, only for an event that a serializer accepted.
 *
 * <p>An event of which the serializer makes nothing is answered with no ids; a sequence given with it is used up.
 *
 * <p>Threading: thread-safe by its lanes and concurrent sets; its threads are made here, and ended by {@link #close}.
 */
public final class RelayPublisher implements Publisher, AutoCloseable {
    /** What may be on its way at once, unless told otherwise. */
    public static final long DEFAULT_MAX_OUTSTANDING_BYTES = 64L << 20;

    private static final Logger log = LoggerFactory.getLogger(RelayPublisher.class);
    /** What a publish costs beside its bytes, roughly. */
    private static final int OVERHEAD_BYTES = 512;

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final SerializerRegistry serializers;
    private final Function<PipeName, Pipe> pipes;
    private final Function<PipeName, PipeSettings> settings;
    private final RelayMetrics metrics;
    private final Durability durability;
    private final long maxOutstandingBytes;
    private final ThreadPoolExecutor pool;
    private final SerializerLanes lanes;
    private final AtomicLong outstandingBytes = new AtomicLong();
    private final Set<Publish> outstanding = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * @param pipes finds a pipe or makes it; called on the serializer pool
     * @param settings those of a pipe, without making it; called on the serializer pool
     * @param durability what the relay's confirmations promise
     * @param threads of the serializer pool
     * @param maxOutstandingBytes source bytes of all publishes that no pipe has yet, with some overhead for each
     */
    RelayPublisher(
            SerializerRegistry serializers,
            Function<PipeName, Pipe> pipes,
            Function<PipeName, PipeSettings> settings,
            RelayMetrics metrics,
            Durability durability,
            int threads,
            long maxOutstandingBytes) {
        this.serializers = serializers;
        this.pipes = pipes;
        this.settings = settings;
        this.metrics = metrics;
        this.durability = durability;
        this.maxOutstandingBytes = maxOutstandingBytes;
        // one queue for all, in order of arrival: nobody's backlog goes before another's next event
        this.pool = new ThreadPoolExecutor(
                threads,
                threads,
                0,
                TimeUnit.SECONDS,
                new LinkedTransferQueue<>(),
                daemons(),
                new ThreadPoolExecutor.DiscardPolicy());
        this.lanes = new SerializerLanes(pool);
    }

    @Override
    public CompletionStage<Appended> publish(
            PipeName pipe,
            String sourceType,
            Map<String, String> options,
            ByteBuffer bytes,
            @Nullable ProducerSequence sequence) {
        Object lane = sequence == null ? null : lane(pipe, sequence.producer());
        return start(sourceType, new SourceEvent(pipe, bytes, options), sequence, lane, InOrder.FREE);
    }

    /**
     * What else belongs to a publish of a producer that sends one after another.
     *
     * @param headers the payloads get them too, where the serializer gave none of that name
     * @param usesUp a sequence that is refused for good is used up, as if there were no event
     * @param objection asked just before the append: why it must not be done
     */
    record InOrder(Map<String, String> headers, boolean usesUp, Supplier<@Nullable RelayException> objection) {
        static final InOrder FREE = new InOrder(Map.of(), false, () -> null);
    }

    /** As {@link #publish}, after all others of the same lane; null: of none. */
    CompletionStage<Appended> start(
            String sourceType,
            SourceEvent event,
            @Nullable ProducerSequence sequence,
            @Nullable Object lane,
            InOrder order) {
        Publish publish;
        try {
            publish = new Publish(serializers.serializer(sourceType), event, sequence, order);
            admit(publish);
        } catch (RelayException e) {
            return CompletableFuture.failedStage(e);
        }
        if (lane == null) {
            inSerializerOrder(publish, () -> {});
        } else {
            lanes.enter(lane, ended -> inSerializerOrder(publish, ended));
        }
        return publish.result;
    }

    static Object lane(PipeName pipe, String producer) {
        return new ProducerLane(pipe, producer);
    }

    /** As the serializers are named. */
    List<String> sourceTypes() {
        return serializers.available();
    }

    @Override
    public void close() {
        close(CLOSE_TIMEOUT);
    }

    /** Takes no more, waits that long for what is on its way, and answers the rest with STOPPING. */
    void close(Duration grace) {
        closed = true;
        try {
            CompletableFuture.allOf(
                            outstanding.stream().map(publish -> publish.result).toArray(CompletableFuture<?>[]::new))
                    .get(grace.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            log.debug("a publish failed while the relay was stopping", e);
        } catch (TimeoutException e) {
            log.warn(
                    "publishes were not done in time: publishes={}, timeout={}; they are answered with STOPPING",
                    outstanding.size(),
                    grace);
        }
        pool.shutdownNow();
        outstanding.forEach(publish -> fail(publish, stopping()));
    }

    /** Counts the publish as outstanding, or throws if there is no room for it. */
    private void admit(Publish publish) {
        long bytes = publish.costBytes;
        if (bytes > maxOutstandingBytes) {
            throw new RelayException(
                    ErrorCode.TOO_LARGE,
                    "event is too large: pipe=" + publish.event.pipe() + ", bytes=" + bytes + ", limit="
                            + maxOutstandingBytes);
        }
        long before = outstandingBytes.getAndAdd(bytes);
        if (before + bytes > maxOutstandingBytes) {
            outstandingBytes.addAndGet(-bytes);
            throw new RelayException(
                    ErrorCode.BUSY,
                    "event not taken: pipe=" + publish.event.pipe() + ", outstandingBytes=" + before + ", limit="
                            + maxOutstandingBytes + "; try again soon");
        }
        outstanding.add(publish);
        if (closed && leave(publish)) {
            throw stopping();
        }
    }

    /** Returns false if the publish had been answered before. */
    private boolean leave(Publish publish) {
        boolean first = outstanding.remove(publish);
        if (first) {
            giveRoomBack(publish);
        }
        return first;
    }

    private void giveRoomBack(Publish publish) {
        if (publish.takesRoom.compareAndSet(true, false)) {
            outstandingBytes.addAndGet(-publish.costBytes);
        }
    }

    private void succeed(Publish publish, Appended appended) {
        if (leave(publish)) {
            publish.result.complete(appended);
        }
    }

    private void fail(Publish publish, Throwable failure) {
        if (leave(publish)) {
            publish.result.completeExceptionally(failure);
        }
    }

    /** Instances that serve one pipe at a time get its events one at a time, without making a thread wait. */
    private void inSerializerOrder(Publish publish, Runnable ended) {
        if (publish.serializer.threadSafe()) {
            pool.execute(() -> run(publish, ended));
        } else {
            lanes.enter(
                    new SerializerLane(publish.event.pipe(), publish.serializer.sourceType()),
                    laneEnded -> run(publish, () -> {
                        laneEnded.run();
                        ended.run();
                    }));
        }
    }

    private void run(Publish publish, Runnable ended) {
        try {
            if (outstanding.contains(publish)) {
                append(publish);
            }
        } catch (RelayException e) {
            fail(publish, e);
        } catch (Throwable e) {
            log.error("publish broke: pipe={}", publish.event.pipe(), e);
            String message = "publish broke: pipe=" + publish.event.pipe() + "; the relay's log has the details";
            fail(publish, new RelayException(ErrorCode.INTERNAL, message, e));
        } finally {
            ended.run();
        }
    }

    private void append(Publish publish) {
        PipeSettings madeFor = settings.apply(publish.event.pipe());
        List<Payload> payloads;
        try {
            payloads = withHeaders(serialize(publish, madeFor), publish.order.headers());
            payloads.forEach(payload -> refuseRelayHeaders(publish, payload));
        } catch (RelayException e) {
            if (!mustUseUp(publish, e)) {
                throw e;
            }
            useUp(publish, pipes.apply(publish.event.pipe()), madeFor, e);
            return;
        }
        if (payloads.isEmpty() && publish.sequence == null) {
            succeed(publish, new Appended(0, 0, false, durability));
            return;
        }
        Pipe pipe = pipes.apply(publish.event.pipe());
        giveRoomBack(publish); // the pipe has a limit of its own: one that is slow takes no room from others
        pipe.append(payloads, publish.sequence, madeFor, new AppendListener() {
            @Override
            public void answered(@Nullable Appended appended, @Nullable Throwable refusal) {
                if (appended != null) {
                    succeed(publish, appended);
                } else if (refusal instanceof RelayException known && mustUseUp(publish, known)) {
                    useUp(publish, pipe, madeFor, known);
                } else if (refusal != null) {
                    fail(publish, refusal);
                }
            }

            @Override
            public @Nullable RelayException objection() {
                return publish.order.objection().get();
            }
        });
    }

    /** They say what the relay does with an event. */
    private static void refuseRelayHeaders(Publish publish, Payload payload) {
        for (String header : payload.headers().keySet()) {
            if (RelayHeaders.isReserved(header)) {
                throw new RelayException(
                        ErrorCode.BAD_EVENT,
                        "event refused: pipe=" + publish.event.pipe() + ", header=" + header
                                + "; headers that begin with " + RelayHeaders.PREFIX
                                + " are the relay's own, give it another name");
            }
        }
    }

    private static boolean mustUseUp(Publish publish, RelayException refusal) {
        boolean forGood = refusal.code() == ErrorCode.BAD_EVENT || refusal.code() == ErrorCode.TOO_LARGE;
        return forGood && publish.order.usesUp() && publish.sequence != null;
    }

    /** Answers with the refusal once the sequence is used up, or with why it could not be: it was not its turn. */
    private void useUp(Publish publish, Pipe pipe, PipeSettings madeFor, RelayException refusal) {
        pipe.append(
                List.of(),
                publish.sequence,
                madeFor,
                (appended, failure) -> fail(publish, failure == null ? refusal : failure));
    }

    private static List<Payload> withHeaders(List<Payload> payloads, Map<String, String> headers) {
        return headers.isEmpty()
                ? payloads
                : payloads.stream()
                        .map(payload -> withHeaders(payload, headers))
                        .toList();
    }

    private static Payload withHeaders(Payload payload, Map<String, String> headers) {
        Map<String, String> all = new HashMap<>(headers);
        all.putAll(payload.headers());
        return new Payload(payload.contentType(), all, payload.bytes());
    }

    private List<Payload> serialize(Publish publish, PipeSettings madeFor) {
        SerializerMetrics counts = metrics.serializer(publish.serializer.sourceType());
        try {
            List<Payload> payloads = publish.serializer.serialize(madeFor.on(publish.event));
            if (payloads.isEmpty()) {
                counts.filtered();
            } else {
                counts.serialized();
            }
            return payloads;
        } catch (RelayException e) {
            counts.refused();
            throw e;
        }
    }

    private static RelayException stopping() {
        return new RelayException(ErrorCode.STOPPING, "event not taken: the relay is stopping; send it again later");
    }

    private static ThreadFactory daemons() {
        AtomicInteger made = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, "relay-serializer-" + made.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /**
     * One publish that is not answered yet.
     *
     * <p>Threading: thread-safe by its result and its atomic flag.
     */
    private static final class Publish {
        private final GuardedSerializer serializer;
        private final SourceEvent event;
        private final @Nullable ProducerSequence sequence;
        private final InOrder order;
        private final long costBytes;
        private final AtomicBoolean takesRoom = new AtomicBoolean(true);
        private final CompletableFuture<Appended> result = new CompletableFuture<>();

        Publish(GuardedSerializer serializer, SourceEvent event, @Nullable ProducerSequence sequence, InOrder order) {
            this.order = order;
            this.serializer = serializer;
            this.event = event;
            this.sequence = sequence;
            this.costBytes = (long) event.bytes().remaining() + OVERHEAD_BYTES;
        }
    }

    private record ProducerLane(PipeName pipe, String producer) {}

    private record SerializerLane(PipeName pipe, String sourceType) {}
}
