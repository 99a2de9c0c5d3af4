package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Durability;
import io.tabletrelay.core.config.CommitConfig;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.config.RedeliveryConfig;
import io.tabletrelay.core.config.RetentionConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.config.WhenFull;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.BindOptions.Mode;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.pipe.DeliveryModel.Place;
import io.tabletrelay.core.pipe.SaidLines.Verb;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * What happens to one pipe, at random: each step is done to the relay and told to the model, and after each turn both must agree.
 *
 * <p>Threading: confined to the test's thread.
 */
final class DeliveryHistory implements AutoCloseable {
    private static final int STEPS = 80;
    private static final int MOST_EVENTS = 40;
    private static final int MOST_CONSUMERS = 3;
    private static final int MOST_DELIVERIES = 4;
    private static final long MILLI = 1_000_000;
    private static final long[] WAITS = {
        MILLI, MILLI, DeliveryModel.SECOND, 6 * DeliveryModel.SECOND, 31 * DeliveryModel.SECOND
    };

    private static final List<Verb> VERBS = List.of(Verb.values());

    private final Random random;
    private final DeliveryConfig config;
    private final boolean dropsOldest;
    private final boolean shared;
    private final DeliveryModel model;
    private final LoopRig rig;
    private final List<ModelConsumer> consumers = new ArrayList<>();
    /** What was done, for who looks into a failure. */
    final List<String> story = new ArrayList<>();

    private long droppedSeen;

    DeliveryHistory(Path folder, long seed) {
        random = new Random(seed * 0x9E3779B97F4A7C15L); // neighbours would begin alike
        shared = random.nextBoolean();
        dropsOldest = random.nextInt(4) == 0;
        model = new DeliveryModel(random.nextInt(3) == 0, MOST_DELIVERIES, this::noticeDropped);
        Duration timeout = Duration.ofNanos(DeliveryModel.ACK_TIMEOUT_NANOS);
        config = new DeliveryConfig(
                10,
                1 << 16,
                Duration.ofSeconds(5),
                new RedeliveryConfig(timeout, timeout, Duration.ofSeconds(1), Duration.ofSeconds(60), MOST_DELIVERIES));
        StoreConfig store = new StoreConfig(
                1 << 20,
                1 << 18,
                0,
                dropsOldest ? 6 : 0,
                0,
                random.nextInt(3) == 0 ? Durability.DISK : Durability.PROCESS,
                CommitConfig.DEFAULT,
                new FullConfig(dropsOldest ? WhenFull.DROP_OLDEST : WhenFull.REJECT, Duration.ofSeconds(30)),
                OnDamage.SKIP,
                RetentionConfig.ACKED);
        rig = new LoopRig(folder, store, config);
    }

    void run() {
        change(SubscriptionChange.Kind.CREATE, new BindOptions.Start.Earliest(), () -> {});
        for (int step = 0; step < STEPS; step++) {
            act();
            if (random.nextInt(3) > 0) {
                turn();
            }
        }
        drain();
    }

    private void act() {
        switch (random.nextInt(20)) {
            case 0, 1, 2 -> append();
            case 3, 4 -> bind();
            case 5, 6, 7, 8 -> say();
            case 9, 10 -> passTime();
            case 11 -> leave();
            case 12 -> window();
            case 13 -> life();
            case 14, 15, 16 -> {
                tell("disk");
                rig.diskStep();
            }
            case 17 -> seldom();
            default -> settle();
        }
    }

    private void seldom() {
        switch (random.nextInt(4)) {
            case 0 -> pause(!model.paused);
            case 1 -> reset();
            case 2 -> restart();
            default -> pause(false);
        }
    }

    private void passTime() {
        long nanos = WAITS[random.nextInt(WAITS.length)];
        tell("wait " + nanos / MILLI + " ms");
        rig.nowNanos += nanos;
    }

    private void tell(String what) {
        story.add(what);
    }

    private void append() {
        for (int n = random.nextInt(4); n >= 0 && model.lastId() < MOST_EVENTS; n--) {
            int bytes = 1 + random.nextInt(100);
            model.append(bytes);
            tell("append " + model.lastId());
            rig.offer(rig.event(bytes), new Answer());
        }
    }

    private void bind() {
        if (consumers.stream().filter(each -> !each.over).count() < MOST_CONSUMERS) {
            Mode[] modes = Mode.values();
            bind(
                    shared ? Mode.SHARED : modes[random.nextInt(modes.length)],
                    1 + random.nextInt(6),
                    random.nextBoolean() ? 150 : 10_000);
        }
    }

    private ModelConsumer bind(Mode mode, int window, long windowBytes) {
        BindOptions options = new BindOptions(
                BindOptions.Dialect.TWO,
                BindOptions.DEFAULT_SUBSCRIPTION,
                new BindOptions.Start.Earliest(),
                window,
                windowBytes,
                1 + random.nextInt(3),
                model.strict,
                mode,
                false,
                random.nextBoolean());
        ModelConsumer made = new ModelConsumer(model, options, config, () -> rig.nowNanos, story);
        consumers.add(made);
        tell("bind " + mode + " as " + (consumers.size() - 1) + ", window=" + window + ", bytes=" + windowBytes);
        rig.loop.bind(made.consumer);
        return made;
    }

    /** Any consumer says something of any event, whether it has it or not. */
    private void say() {
        if (consumers.isEmpty() || model.lastId() == 0) {
            return;
        }
        ModelConsumer from = consumers.get(random.nextInt(consumers.size()));
        List<DeliveryModel.Event> held = model.heldBy(from);
        long id = held.isEmpty() || random.nextInt(4) == 0
                ? 1 + random.nextInt((int) model.lastId() + 2)
                : held.get(random.nextInt(held.size())).id;
        Verb verb = VERBS.get(random.nextInt(VERBS.size()));
        long second = switch (verb) {
            case ACK -> random.nextInt(8) == 0 ? Long.MAX_VALUE : id + random.nextInt(3);
            case NACK -> random.nextBoolean() ? ConsumerLink.BACKOFF : random.nextInt(3) * 700L;
            default -> 0;
        };
        SaidLines lines = new SaidLines();
        lines.add(verb, id, second, "");
        tell(verb + " " + id + " " + second + " from " + consumers.indexOf(from));
        rig.loop.lines(from.consumer, lines);
        if (from.everBound && !from.stale) {
            tellModel(from, verb, id, second);
        }
    }

    private void tellModel(ModelConsumer from, Verb verb, long id, long second) {
        switch (verb) {
            case ACK -> model.ack(id, second);
            case ACK_UP_TO -> model.ackUpTo(from, id);
            case NACK -> model.nack(from, id, second < 0 ? second : second * MILLI, rig.nowNanos);
            case TERM -> model.terminate(from, id);
            case HOLD -> model.hold(from, id, rig.nowNanos);
        }
    }

    private void leave() {
        consumers.stream()
                .filter(each -> !each.over)
                .skip(random.nextInt(2))
                .findFirst()
                .ifPresent(each -> {
                    boolean unbinds = random.nextBoolean();
                    tell((unbinds ? "unbind " : "lose ") + consumers.indexOf(each));
                    if (unbinds) {
                        rig.loop.unbind(each.consumer);
                    } else {
                        lose(each);
                    }
                });
    }

    private void lose(ModelConsumer consumer) {
        rig.loop.gone(consumer.consumer);
        consumer.over = true;
        model.takenFrom(consumer, true, rig.nowNanos);
    }

    private void window() {
        for (ModelConsumer each : consumers) {
            if (each.everBound && !each.stale && random.nextBoolean()) {
                each.window = random.nextInt(4);
                tell("window " + each.window + " of " + consumers.indexOf(each));
                SaidLines lines = new SaidLines();
                lines.window(each.window);
                rig.loop.lines(each.consumer, lines);
            }
        }
    }

    private void life() {
        for (ModelConsumer each : consumers) {
            if (each.probed && random.nextBoolean()) {
                each.probed = false;
                tell("life " + consumers.indexOf(each));
                rig.loop.life(each.consumer, true);
            }
        }
    }

    private void pause(boolean pauses) {
        tell(pauses ? "pause" : "resume");
        if (!pauses) {
            model.paused = false;
        }
        ask(open -> open.life().change(pauses ? StateChange.PAUSE : StateChange.RESUME, null, refused -> {
            if (refused == null) {
                model.paused = pauses;
            }
        }));
        settle();
    }

    private void reset() {
        settle();
        if (consumers.stream().anyMatch(each -> !each.over)) {
            return;
        }
        long asked = 1L + random.nextInt((int) model.lastId() + 1);
        long start = Math.max(asked, rig.loop.status().firstId()); // older ones may be deleted
        tell("reset " + start);
        change(SubscriptionChange.Kind.RESET, new BindOptions.Start.AtId(asked), () -> {
            model.reset(start);
            consumers.forEach(each -> each.stale = true);
        });
    }

    private void change(SubscriptionChange.Kind kind, BindOptions.Start start, Runnable then) {
        List<String> refused = new ArrayList<>();
        ask(open -> open.subscriptions()
                .changes()
                .add(new SubscriptionChange(
                        kind,
                        BindOptions.DEFAULT_SUBSCRIPTION,
                        start,
                        made -> then.run(),
                        why -> refused.add(why.reason()))));
        settle();
        assertThat(refused).isEmpty();
    }

    private void restart() {
        if (rig.loop.status().lastId() < model.lastId()) {
            settle();
        }
        tell("restart");
        rig.reopen();
        consumers.clear();
        model.restarted(rig.nowNanos);
        check();
    }

    private void turn() {
        tell("turn");
        rig.turn();
        check();
    }

    private void settle() {
        tell("settle");
        rig.settle();
        check();
    }

    /** In the end everything that was appended is settled: somebody takes it all, or it is given up. */
    private void drain() {
        pause(false);
        consumers.stream().filter(each -> !each.over).toList().forEach(this::lose);
        ModelConsumer last = bind(Mode.TAKEOVER, 1_000, Long.MAX_VALUE);
        for (int round = 0; round < 200 && model.count(Place.SETTLED) < model.lastId(); round++) {
            settle();
            for (DeliveryModel.Event each : model.heldBy(last)) {
                rig.loop.lines(last.consumer, Said.acks(each.id));
                model.ack(each.id, each.id);
            }
            rig.nowNanos += 10 * DeliveryModel.SECOND;
        }
        settle();
        assertThat(model.count(Place.SETTLED)).as("settled in the end").isEqualTo(model.lastId());
        assertThat(rig.loop.snapshot().backlog()).isZero();
    }

    /** What was dropped is settled from then on; the relay says up to where. */
    private void noticeDropped() {
        long dropped = rig.metrics.droppedEvents();
        if (dropped > droppedSeen) {
            assertThat(dropsOldest).isTrue();
            droppedSeen = dropped;
            tell("dropped up to " + rig.loop.status().floor());
            model.dropUpTo(rig.loop.status().floor());
        }
    }

    private void check() {
        noticeDropped();
        assertThat(rig.loop.files()).isEqualTo(FilesState.OPEN);
        ask(open -> {
            Subscription of = open.subscription(BindOptions.DEFAULT_SUBSCRIPTION);
            if (of != null) {
                check(of, open.store().log().lastId());
            }
        });
    }

    private void check(Subscription of, long lastId) {
        Map<String, Long> counts = new HashMap<>();
        for (long id = 1; id <= lastId; id++) {
            String word = of.stateOf(id).state();
            model.see(id, word, rig.nowNanos);
            counts.merge(word, 1L, Long::sum);
        }
        long undelivered = counts.getOrDefault("undelivered", 0L);
        assertThat((long) of.inFlight()).isEqualTo(counts.getOrDefault("in-flight", 0L));
        assertThat((long) of.waiting()).isEqualTo(counts.getOrDefault("waiting", 0L));
        assertThat(of.backlog()).isEqualTo(of.inFlight() + of.waiting() + undelivered);
        assertThat(lastId - of.backlog()).isEqualTo(counts.getOrDefault("settled", 0L));
        assertThat(rig.quota.inFlightEvents()).as("in flight of all pipes").isEqualTo(of.inFlight());
    }

    private void ask(java.util.function.Consumer<OpenPipe> question) {
        rig.loop.request(new TransferLoop.Request(question, why -> {
            throw new AssertionError("the pipe is not open", why);
        }));
    }

    @Override
    public void close() {
        rig.close();
    }
}
