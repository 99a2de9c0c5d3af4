package io.tabletrelay.core.pipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.CommitConfig;
import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.config.RetentionConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.config.WhenFull;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.BindOptions.Start;
import io.tabletrelay.core.delivery.Consumer;
import io.tabletrelay.core.delivery.Subscription;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

class ManySubscriptionsTest {
    private static final Start EARLIEST = new Start.Earliest();

    @TempDir
    private Path folder;

    private LoopRig rig;
    private final List<String> refused = new ArrayList<>();

    @BeforeEach
    void open() {
        open(Durability.PROCESS, FullConfig.DEFAULT);
    }

    private void open(Durability durability, FullConfig full) {
        rig = new LoopRig(
                folder.resolve("data-" + durability + full.policy()),
                new StoreConfig(
                        1 << 20,
                        1 << 18,
                        full.policy() == WhenFull.DROP_OLDEST ? 4 << 20 : 0,
                        0,
                        0,
                        durability,
                        CommitConfig.DEFAULT,
                        full,
                        OnDamage.SKIP,
                        RetentionConfig.ACKED));
    }

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void eachSubscriptionGetsEveryEventAndOneWithoutAConsumerHoldsNobodyUp() {
        create("idle", EARLIEST);
        RecordingSink a = attach("a", EARLIEST);
        RecordingSink b = attach("b", EARLIEST);

        rig.publishUpTo(30, 100);

        ackAll("a", a);
        ackAll("b", b);
        assertThat(a.ids).containsExactlyElementsOf(ids(1, 30));
        assertThat(b.ids).containsExactlyElementsOf(ids(1, 30));
        assertThat(status("idle").backlog()).isEqualTo(30);
        assertThat(status("a").backlog()).isZero();
        assertThat(rig.loop.status().floor()).isZero();
    }

    @Test
    void whatOneSettlesIsNotSettledForAnother() {
        RecordingSink a = attach("a", EARLIEST);
        rig.publishUpTo(3, 100);
        ackAll("a", a);

        RecordingSink b = attach("b", EARLIEST);

        assertThat(b.ids).containsExactly(1L, 2L, 3L);
        assertThat(status("a").settled()).isEqualTo(3);
        assertThat(status("b").settled()).isZero();
    }

    @Test
    void allOfItIsThereAfterARestart() {
        RecordingSink a = attach("a", EARLIEST);
        rig.publishUpTo(5, 100);
        ackAll("a", a);
        create("late", new Start.Latest());
        rig.publishUpTo(7, 100);
        detach("a");

        rig.reopen();

        assertThat(attach("a", EARLIEST).ids).containsExactly(6L, 7L);
        assertThat(attach("late", EARLIEST).ids).containsExactly(6L, 7L);
        assertThat(find("default")).isNull();
    }

    @Test
    void aStartIsTheOldestTheNewestAnIdOrATime() {
        for (int i = 1; i <= 20; i++) {
            rig.nowNanos += LoopRig.SECOND;
            rig.publish(100).join();
        }
        Instant atEvent8 = Instant.ofEpochMilli((rig.nowNanos - 12 * LoopRig.SECOND) / 1_000_000);

        create("earliest", EARLIEST);
        create("latest", new Start.Latest());
        create("id", new Start.AtId(15));
        create("beyond", new Start.AtId(1_000));
        create("time", new Start.AtTime(atEvent8));
        create("between", new Start.AtTime(atEvent8.plusMillis(1)));
        create("ever", new Start.AtTime(Instant.EPOCH));
        create("never", new Start.AtTime(Instant.ofEpochSecond(1_000_000_000)));

        assertThat(rig.loop.status().subscriptions())
                .extracting(each -> each.name() + " " + each.start() + " " + each.backlog())
                .containsExactly(
                        "earliest 1 20",
                        "latest 21 0",
                        "id 15 6",
                        "beyond 21 0",
                        "time 8 13",
                        "between 9 12",
                        "ever 1 20",
                        "never 21 0");
    }

    @Test
    void aResetBringsBackWhatWasSettledAndOldAcksSettleNothing() {
        RecordingSink a = attach("a", EARLIEST);
        rig.publishUpTo(10, 100);
        ackAll("a", a);

        reset("a", new Start.AtId(4));
        assertThat(refused).singleElement().asString().contains("subscription has a consumer", "consumers=1");
        detach("a");
        reset("a", new Start.AtId(4));

        Subscription again = Objects.requireNonNull(find("a"));
        assertThat(again.ack(Objects.requireNonNull(consumers.get("a")), 7, 7)).isFalse();
        assertThat(again.backlog()).isEqualTo(7);
        rig.reopen();
        assertThat(attach("a", EARLIEST).ids).containsExactlyElementsOf(ids(4, 10));
    }

    @Test
    void aPipeWithoutSubscriptionsKeepsEverythingAndOneThatIsDeletedHoldsNothing() {
        rig.publishUpTo(40, 100_000);
        assertThat(rig.loop.status().firstId()).isEqualTo(1);
        create("slow", EARLIEST);
        RecordingSink a = attach("a", EARLIEST);
        ackAll("a", a);
        assertThat(rig.loop.status().firstId()).isEqualTo(1);

        delete("slow");

        assertThat(rig.loop.status().firstId()).isGreaterThan(20);
        assertThat(status("a").backlog()).isZero();
        create("new", EARLIEST);
        assertThat(status("new").start()).isEqualTo(rig.loop.status().firstId());
        rig.reopen();
        assertThat(rig.loop.status().subscriptions())
                .extracting(SubscriptionStatus::name)
                .containsExactly("a", "new");
    }

    @Test
    void aDeletedDefaultStaysDeletedUntilItIsBoundAgain() {
        rig.bind();
        rig.publishUpTo(5, 100);
        rig.ackUpTo(1, 3);
        rig.loop.gone(rig.consumer);
        rig.settle();

        delete("default");

        assertThat(rig.loop.status().subscriptions()).isEmpty();
        rig.reopen();
        assertThat(rig.loop.status().subscriptions()).isEmpty();
        assertThat(rig.loop.status().lastId()).isEqualTo(5);
        RecordingSink again = attach("default", EARLIEST);
        assertThat(again.ids).containsExactly(1L, 2L, 3L, 4L, 5L);
    }

    @Test
    void whatIsDroppedIsDroppedForAll() {
        rig.close();
        open(Durability.PROCESS, new FullConfig(WhenFull.DROP_OLDEST, Duration.ofSeconds(30)));
        create("b", EARLIEST);
        create("c", EARLIEST);

        rig.publishUpTo(100, 100_000);

        PipeStatus status = rig.loop.status();
        assertThat(status.dropped()).isPositive();
        assertThat(status("b").floor()).isEqualTo(status.floor());
        assertThat(status("c").floor()).isEqualTo(status.floor());
        assertThat(status("b").backlog()).isEqualTo(100 - status.dropped());
        rig.reopen();
        assertThat(status("b").backlog()).isEqualTo(100 - status.dropped());
        assertThat(find("default")).isNull();
    }

    @Test
    void aDeadLetterOfOneSettlesNothingForAnother() {
        create("b", EARLIEST);
        RecordingSink a = attach("a", EARLIEST);
        rig.publish(100).join();
        Consumer from = Objects.requireNonNull(consumers.get("a"));
        for (int i = 0; i < 20; i++) {
            Objects.requireNonNull(find("a")).nack(from, 1, -1, "");
            rig.nowNanos += 100 * LoopRig.SECOND;
            rig.settle();
        }
        assertThat(a.ids).hasSize(20);
        assertThat(status("a").backlog()).isZero();
        RecordingSink b = attach("b", EARLIEST);
        assertThat(b.ids).containsExactly(1L);

        rig.reopen();

        assertThat(status("a").backlog()).isZero();
        assertThat(status("b").backlog()).isEqualTo(1);
    }

    @Test
    void acksOfEachReachTheDisk() {
        rig.close();
        open(Durability.DISK, FullConfig.DEFAULT);
        RecordingSink a = attach("a", EARLIEST);
        RecordingSink b = attach("b", EARLIEST);
        rig.publishUpTo(3, 100);
        ackAll("a", a);
        ackAll("b", b);

        rig.nowNanos += LoopRig.SECOND;
        rig.settle();

        assertThat(rig.loop.status().durableFloor()).isEqualTo(3);
    }

    @Test
    void badNamesAreRefused() {
        create(" ", EARLIEST);
        create("x".repeat(201), EARLIEST);

        assertThat(refused).hasSize(2);
        assertThat(refused.get(0)).contains("subscription name is empty");
        assertThat(refused.get(1)).contains("subscription name too long");
    }

    @Test
    @EnabledIfSystemProperty(named = "storage.full", matches = "true", disabledReason = "runs with -Pstorage")
    void tooManyAreRefused() {
        for (int i = 0; i <= OpenSubscriptions.MOST; i++) {
            create("s" + i, EARLIEST);
        }

        assertThat(refused).singleElement().asString().contains("too many subscriptions: pipe=p, limit=1000");
    }

    private final java.util.Map<String, Consumer> consumers = new java.util.HashMap<>();

    private RecordingSink attach(String name, Start start) {
        RecordingSink sink = new RecordingSink();
        Consumer consumer = new Consumer(sink, BindOptions.DIALECT_1, DeliveryConfig.DEFAULT);
        consumers.put(name, consumer);
        ask(open -> open.createSubscription(
                name, start, found -> found.attach(consumer), why -> refused.add(why.reason())));
        return sink;
    }

    private void detach(String name) {
        Objects.requireNonNull(find(name)).detach(Objects.requireNonNull(consumers.get(name)), false);
        rig.settle();
    }

    private void create(String name, Start start) {
        change(SubscriptionChange.Kind.CREATE, name, start);
    }

    private void reset(String name, Start start) {
        change(SubscriptionChange.Kind.RESET, name, start);
    }

    private void delete(String name) {
        change(SubscriptionChange.Kind.DELETE, name, null);
    }

    private void change(SubscriptionChange.Kind kind, String name, @Nullable Start start) {
        ask(open -> open.subscriptions()
                .changes()
                .add(new SubscriptionChange(kind, name, start, made -> {}, why -> refused.add(why.reason()))));
    }

    private void ask(java.util.function.Consumer<OpenPipe> question) {
        rig.loop.request(new TransferLoop.Request(question, why -> {
            throw new AssertionError("the pipe is not open", why);
        }));
        rig.settle();
    }

    private void ackAll(String name, RecordingSink sink) {
        Subscription of = Objects.requireNonNull(find(name));
        for (int acked = 0; acked < sink.ids.size(); acked++) {
            long id = sink.ids.get(acked);
            assertThat(of.ack(Objects.requireNonNull(consumers.get(name)), id, id))
                    .isTrue();
            rig.settle();
        }
    }

    private @Nullable Subscription find(String name) {
        List<Subscription> found = new ArrayList<>();
        ask(open -> {
            Subscription subscription = open.subscription(name);
            if (subscription != null) {
                found.add(subscription);
            }
        });
        return found.isEmpty() ? null : found.get(0);
    }

    private SubscriptionStatus status(String name) {
        return rig.loop.status().subscriptions().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new RelayException(io.tabletrelay.api.ErrorCode.NO_SUCH_SUBSCRIPTION, name));
    }

    private static List<Long> ids(long first, long last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }
}
