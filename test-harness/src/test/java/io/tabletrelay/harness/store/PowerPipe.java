package io.tabletrelay.harness.store;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.tabletrelay.api.Durability;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.harness.History;
import io.tabletrelay.harness.TestConsumer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.IntSupplier;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One pipe that lives through power cuts: its producers, its consumer, and what must hold for its durability.
 *
 * <p>At {@code disk} every confirmed event is there after a cut. At {@code process} only what was appended since the file
 * system was mounted may be gone, and the relay says which ids.
 *
 * <p>Threading: used by the test's thread; what it records is thread-safe.
 */
final class PowerPipe {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int REFUSE_PERCENT = 3;

    private final String name;
    private final Durability durability;
    private final BatchProducer.Load load;
    private final int producerCount;
    private final ReportedLosses reported;
    private final History history = new History();
    private final List<BatchProducer> producers = new ArrayList<>();
    private List<Long> confirmedBefore = List.of();
    private long lastIdAtStart;
    private long provenUpTo;
    private long lostEvents;
    private boolean isMade;
    private volatile boolean hasPower;
    private int judged;
    private @Nullable TestConsumer consumer;
    private @Nullable WideConsumer wideConsumer;

    PowerPipe(String name, Durability durability, BatchProducer.Load load, int producerCount, ReportedLosses reported) {
        this.name = name;
        this.durability = durability;
        this.load = load;
        this.producerCount = producerCount;
        this.reported = reported;
    }

    String name() {
        return name;
    }

    History history() {
        return history;
    }

    boolean isForced() {
        return durability == Durability.DISK;
    }

    /** Confirmed events that a cut took, all of them permitted. */
    long lostEvents() {
        return lostEvents;
    }

    /** Makes the pipe; its file is forced at either level, so that no cut may take it away again. */
    void make(RelayHttp http) throws Exception {
        http.createPipe(name, Map.of("durability", durability.word()));
        isMade = true;
    }

    boolean isMade() {
        return isMade;
    }

    /** Whether it has been through a cut, and what that took is known. */
    boolean isJudged() {
        return judged > 0;
    }

    /** What the relay says right after its start: ids go on above all that anybody saw. */
    void restarted(RelayHttp http) throws Exception {
        lastIdAtStart = http.pipe(name).path("lastId").asLong(-1);
        confirmedBefore = history.undelivered();
        if (lastIdAtStart < history.highestId()) {
            throw broken("ids go back: last=" + lastIdAtStart + ", seen=" + history.highestId());
        }
    }

    /** Publishes and consumes until the power goes. */
    void start(RelayHttp http, IntSupplier wsPort, int run, int windowEvents, Random random) {
        if (!isForced() || producers.isEmpty()) {
            producers.clear();
            for (int i = 1; i <= producerCount; i++) {
                producers.add(new BatchProducer(name, name + "-" + run + "-" + i, history, load));
            }
        }
        hasPower = true;
        startConsumer(wsPort, windowEvents, random);
        producers.forEach(producer -> producer.start(http));
    }

    void startConsumer(IntSupplier wsPort, int windowEvents, Random random) {
        if (windowEvents > CutPlan.WIDE_FROM_EVENTS) {
            wideConsumer = new WideConsumer(name, windowEvents, wsPort, history);
        } else {
            TestConsumer.Behaviour behaviour = new TestConsumer.Behaviour(windowEvents, REFUSE_PERCENT, false);
            consumer = new TestConsumer(name, behaviour, wsPort, history, random.nextLong());
        }
    }

    /** False once its machine counts as dead, though it may go on for a moment. */
    boolean hasPower() {
        return hasPower;
    }

    void powerIsGoing() {
        hasPower = false;
        history.powerIsGoing();
        producers.forEach(BatchProducer::powerIsGoing);
    }

    void stopProducers() throws InterruptedException {
        for (BatchProducer producer : producers) {
            producer.stop();
        }
    }

    long confirmedGroups() {
        return producers.stream().mapToLong(BatchProducer::confirmedGroups).sum();
    }

    /** After the relay was killed. */
    void stopped() throws InterruptedException {
        stopProducers();
        if (consumer != null) {
            consumer.close();
            consumer.awaitEnd(PATIENCE);
            consumer = null;
        }
        if (wideConsumer != null) {
            wideConsumer.end();
            wideConsumer = null;
        }
        history.powerCut();
    }

    /** Throws if anything is wrong already. */
    void check() {
        if (!history.faultsSoFar().isEmpty()) {
            throw broken(history.faultsSoFar().toString());
        }
        for (BatchProducer producer : producers) {
            if (producer.failure() != null) {
                throw broken(producer.failure());
            }
        }
    }

    /** Waits until it is known what the last cut took, and throws if it took too much or that was not said. */
    void judge(RelayHttp http) {
        List<Long> expected = confirmedBefore;
        if (!expected.isEmpty()) {
            long last = expected.get(expected.size() - 1);
            try {
                await().atMost(PATIENCE)
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> !history.faultsSoFar().isEmpty()
                                || history.orderedUpToId() >= last
                                || passed(http, last));
            } catch (ConditionTimeoutException e) {
                throw broken("no deliveries: awaited id=" + last + ", delivered up to " + history.orderedUpToId()
                        + ", status=" + status(http));
            }
        }
        check();
        List<Long> missing = new ArrayList<>(expected);
        missing.retainAll(Set.copyOf(history.undelivered()));
        judge(missing, provenUpTo);
        confirmedBefore = List.of();
        provenUpTo = lastIdAtStart;
        judged += lastIdAtStart > 0 ? 1 : 0;
    }

    /** Nothing is published and everything up to the last id is settled. */
    private boolean passed(RelayHttp http, long id) throws Exception {
        return http.pipe(name).path("floor").asLong() >= id;
    }

    /** None of these may be one of the first {@code keptUpTo} ids, which were there after an earlier cut. */
    private void judge(List<Long> missing, long keptUpTo) {
        if (missing.isEmpty()) {
            return;
        }
        if (isForced()) {
            throw broken("confirmed events lost: " + shortened(missing));
        }
        if (missing.get(0) <= keptUpTo) {
            throw broken(
                    "lost what had survived an earlier cut: kept up to " + keptUpTo + ", lost " + shortened(missing));
        }
        try {
            await().atMost(Duration.ofSeconds(5)).until(() -> missing.stream().allMatch(this::isReported));
        } catch (ConditionTimeoutException e) {
            throw broken("lost without a word in the log: "
                    + shortened(missing.stream().filter(id -> !isReported(id)).toList()));
        }
        lostEvents += missing.size();
        history.forgive(missing);
    }

    private boolean isReported(long id) {
        return reported.cover(name, id);
    }

    /** Waits until everything is settled, and judges what was delivered, and lost before it was acked. */
    JsonNode drain(RelayHttp http) {
        JsonNode status = drained(http);
        if (!isForced()) {
            judge(history.unacked(), 0);
        }
        return status;
    }

    private JsonNode drained(RelayHttp http) {
        try {
            return await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(20))
                    .until(
                            () -> http.pipe(name),
                            status -> status.path("floor").asLong()
                                            >= status.path("lastId").asLong()
                                    && (!isForced() || history.unacked().isEmpty()));
        } catch (ConditionTimeoutException e) {
            throw broken("not drained: unacked=" + shortened(history.unacked()) + ", status=" + status(http));
        }
    }

    /** What is wrong over the whole history, once it is drained. */
    void checkAll(JsonNode status) {
        check();
        long withoutEvent =
                status.path("voidIds").asLong() + status.path("deadLetters").asLong();
        List<String> faults = history.faults(withoutEvent);
        // ids that the last cut left void stand above all that was delivered
        faults.removeIf(fault -> fault.startsWith("gap: "));
        long lastId = status.path("lastId").asLong();
        // at process an event that was delivered, and then lost, makes its id void though it was counted
        if (isForced() && lastId - history.deliveredEvents() != withoutEvent) {
            faults.add("gap: last=" + lastId + ", delivered=" + history.deliveredEvents() + ", void and dead letters="
                    + withoutEvent);
        }
        if (!faults.isEmpty()) {
            throw broken(faults.size() + " faults, " + faults.subList(0, Math.min(10, faults.size())));
        }
    }

    private String status(RelayHttp http) {
        try {
            return http.pipe(name).toString();
        } catch (Exception e) {
            return e.toString();
        }
    }

    private AssertionError broken(String what) {
        return new AssertionError("pipe=" + name + ", durability=" + durability.word() + ": " + what);
    }

    private static String shortened(List<Long> ids) {
        return ids.isEmpty()
                ? "none"
                : ids.size() + " ids, " + ids.subList(0, Math.min(10, ids.size())) + " to " + ids.get(ids.size() - 1);
    }
}
