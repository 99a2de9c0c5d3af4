package io.tabletrelay.core.pipe;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.AllSubscriptions;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.delivery.EventPlace;
import io.tabletrelay.core.delivery.Subscription;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.store.folder.PipeStore;
import io.tabletrelay.core.store.folder.SubscriptionFiles;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All subscriptions of a pipe whose store is open. While there is no {@code default} its ring, which is the pipe's, is looked at as if
 * there were: it holds nothing back, and in a pipe without subscriptions it shows what a first one would have before it.
 *
 * <p>Threading: confined to the pipe's transfer thread, but for {@link #settleBelow}; closed by an I/O task.
 */
final class OpenSubscriptions implements AllSubscriptions {
    /** Of one pipe. */
    static final int MOST = 1_000;
    /** Less is not worth a turn. */
    private static final int LEAST_SHARE_BYTES = 16 << 10;

    private final PipeName pipe;
    private final PipeStore store;
    private final DeadLetters deadLetters;
    private final PipeContext context;
    private final DiskTasks diskTasks;
    private final PipeMemory memory;
    private final PipeMetrics metrics;
    private final Consumer<Throwable> onFailure;
    private final SubscriptionChanges changes;

    private final List<OpenSubscription> existing = new ArrayList<>();
    /** {@code default}, or what stands for it while there is none. */
    private OpenSubscription own;

    private int next;
    private boolean stopped;
    private boolean paused;
    private boolean finished;

    OpenSubscriptions(
            PipeName pipe,
            PipeStore store,
            DeadLetters deadLetters,
            PipeContext context,
            DiskTasks diskTasks,
            PipeMemory memory,
            PipeMetrics metrics,
            Consumer<Throwable> onFailure) {
        this.pipe = pipe;
        this.store = store;
        this.deadLetters = deadLetters;
        this.context = context;
        this.diskTasks = diskTasks;
        this.memory = memory;
        this.metrics = metrics;
        this.onFailure = onFailure;
        this.changes = new SubscriptionChanges(
                pipe.value(), store, this, diskTasks, context.delivery().clock(), onFailure);
        store.subscriptions().existing().forEach(files -> existing.add(open(files)));
        OpenSubscription found = find(BindOptions.DEFAULT_SUBSCRIPTION);
        this.own = found == null ? standIn() : found;
    }

    private OpenSubscription open(SubscriptionFiles files) {
        return opened(files, memory.shown().computeIfAbsent(files.name(), name -> {
            ShownSubscription first = new ShownSubscription();
            metrics.show(name, first);
            return first;
        }));
    }

    private OpenSubscription standIn() {
        return opened(store.subscriptions().own(), new ShownSubscription());
    }

    private OpenSubscription opened(SubscriptionFiles files, ShownSubscription shown) {
        OpenSubscription opened = new OpenSubscription(
                pipe,
                files,
                shown,
                store.log(),
                deadLetters,
                diskTasks,
                context.delivery(),
                memory,
                metrics,
                onFailure);
        if (stopped) {
            opened.subscription().stopSending();
        }
        opened.subscription().pause(paused);
        if (finished) {
            opened.subscription().finish();
        }
        return opened;
    }

    @Nullable
    OpenSubscription find(String name) {
        for (OpenSubscription each : existing) {
            if (each.name().equals(name)) {
                return each;
            }
        }
        return null;
    }

    /** The one that stands for {@code default}, if that is the name and there is none. */
    @Nullable
    OpenSubscription unborn(String name) {
        return name.equals(BindOptions.DEFAULT_SUBSCRIPTION) && !ownExists() ? own : null;
    }

    /** From which id on a ring that is there for that name, and was never used, has nothing settled. */
    long firstIdOfUnused(String name) {
        OpenSubscription standIn = unborn(name);
        return standIn == null ? Long.MAX_VALUE : standIn.files().settled().settledBelow();
    }

    int count() {
        return existing.size();
    }

    /** Of those that there are. */
    Set<String> names() {
        return existing.stream().map(OpenSubscription::name).collect(Collectors.toUnmodifiableSet());
    }

    SubscriptionChanges changes() {
        return changes;
    }

    /** The subscription of that name; null: there is none, or it is being changed. */
    @Nullable
    Subscription subscription(String name) {
        OpenSubscription found = changes.concerns(name) ? null : find(name);
        return found == null ? null : found.subscription();
    }

    /** The one that the pipe's own numbers are about: {@code default}, or the one that is furthest behind. */
    OpenSubscription shown() {
        if (ownExists()) {
            return own;
        }
        OpenSubscription lowest = looked().get(0);
        for (OpenSubscription each : looked()) {
            lowest = each.subscription().floor() < lowest.subscription().floor() ? each : lowest;
        }
        return lowest;
    }

    /** Takes what a change made of a subscription; null: it is gone. */
    @Nullable
    OpenSubscription changed(String name, @Nullable SubscriptionFiles files) {
        long appendedUpTo = own.files().settled().appendedUpTo();
        if (existing.removeIf(each -> each.name().equals(name))) {
            memory.begunAnew(name);
        }
        memory.losses().remove(name);
        boolean isDefault = name.equals(BindOptions.DEFAULT_SUBSCRIPTION);
        OpenSubscription made = null;
        if (files != null) {
            made = open(files);
            existing.add(made);
        } else {
            memory.shown().remove(name);
            metrics.removeSubscription(name);
        }
        if (isDefault) {
            own = made == null ? standIn() : made;
            raiseAppendedUpTo(appendedUpTo);
        }
        return made;
    }

    private boolean ownExists() {
        return existing.contains(own);
    }

    /** To be called before an append up to this id is confirmed. */
    void raiseAppendedUpTo(long id) {
        own.files().settled().raiseAppendedUpTo(id);
    }

    /** One turn; sends up to about that many payload bytes. Returns how much was done. */
    int turn(int deliveryBytes, boolean mayDeliver) {
        changes.turn();
        int work = mayDeliver ? deliver(deliveryBytes) : 0;
        for (OpenSubscription each : existing) {
            if (!changes.concerns(each.name())) {
                each.acks().turn();
                work += each.subscription().upkeep() ? 1 : 0;
                each.flush().turn();
            }
        }
        if (!ownExists() && !changes.concerns(own.name())) {
            own.subscription().upkeep();
        }
        return work;
    }

    /** Each that has a consumer gets its share; who is first goes round. */
    private int deliver(int budgetBytes) {
        int served = 0;
        for (OpenSubscription each : existing) {
            served += each.subscription().consumers() > 0 ? 1 : 0;
        }
        if (served == 0) {
            return 0;
        }
        int share = Math.max(LEAST_SHARE_BYTES, budgetBytes / served);
        int left = budgetBytes;
        int work = 0;
        int first = next;
        for (int i = 0; i < existing.size() && left > 0; i++) {
            OpenSubscription each = existing.get((first + i) % existing.size());
            int sent = changes.concerns(each.name()) ? 0 : each.subscription().deliver(Math.min(share, left));
            left -= sent > 0 ? share : 0;
            work += sent;
            next = (first + i + 1) % existing.size();
        }
        return work;
    }

    boolean isIdle() {
        if (!changes.isIdle()) {
            return false;
        }
        for (OpenSubscription each : existing) {
            if (!each.isIdle()) {
                return false;
            }
        }
        return true;
    }

    /** When the next turn is wanted though no command comes, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise, boolean mayDeliver) {
        long deadline = otherwise;
        for (OpenSubscription each : existing) {
            if (mayDeliver) {
                deadline = earlier(deadline, each.subscription().nextDeadlineNanos(otherwise));
            }
            deadline = earlier(deadline, each.acks().nextDeadlineNanos(otherwise));
            deadline = earlier(deadline, each.flush().retryNanos(otherwise));
        }
        return deadline;
    }

    private static long earlier(long a, long b) {
        return b - a < 0 ? b : a;
    }

    /** The relay is stopping: nothing is sent any more, acks still count. */
    void stopSending(RelayException why) {
        stopped = true;
        existing.forEach(each -> each.subscription().stopSending());
        changes.end(why);
    }

    /** What is in flight counts no more among all pipes' events; nothing is delivered any more. */
    void letGo() {
        existing.forEach(each -> each.subscription().letGo());
    }

    /** Nothing is sent while that is so; acks count. */
    void pause(boolean pauses) {
        paused = pauses;
        existing.forEach(each -> each.subscription().pause(pauses));
    }

    /** No event follows those that are there: consumers are told so when all are settled. */
    void finish() {
        finished = true;
        existing.forEach(each -> each.subscription().finish());
    }

    /** True: there is at least one. */
    boolean exist() {
        return !existing.isEmpty();
    }

    /** True: each has settled everything, as durably as the pipe settles. */
    boolean areAllSettled() {
        for (OpenSubscription each : looked()) {
            if (!each.subscription().isAllSettled()) {
                return false;
            }
        }
        return true;
    }

    void close() {
        existing.forEach(each -> each.subscription().close());
        if (!ownExists()) {
            own.subscription().close();
        }
    }

    String trouble() {
        for (OpenSubscription each : existing) {
            if (!each.trouble().isEmpty()) {
                return each.trouble();
            }
        }
        return "";
    }

    /** The largest that one has. */
    long backlog() {
        return largest(Subscription::backlog);
    }

    private long largest(ToLongFunction<Subscription> of) {
        long largest = 0;
        for (OpenSubscription each : looked()) {
            largest = Math.max(largest, of.applyAsLong(each.subscription()));
        }
        return largest;
    }

    /** Where an event is for each of them, by their names. */
    Map<String, EventPlace> placesOf(long id) {
        Map<String, EventPlace> places = new LinkedHashMap<>();
        for (OpenSubscription each : existing) {
            places.put(each.name(), each.subscription().placeOf(id, each.files().start()));
        }
        return places;
    }

    int inFlight() {
        int sum = 0;
        for (OpenSubscription each : existing) {
            sum += each.subscription().inFlight();
        }
        return sum;
    }

    int waiting() {
        int sum = 0;
        for (OpenSubscription each : existing) {
            sum += each.subscription().waiting();
        }
        return sum;
    }

    /** The lowest of theirs. */
    long durableFloor() {
        long lowest = Long.MAX_VALUE;
        for (OpenSubscription each : looked()) {
            lowest = Math.min(lowest, each.files().settled().durableFloor());
        }
        return lowest;
    }

    List<SubscriptionStatus> status() {
        return existing.stream().map(OpenSubscription::status).toList();
    }

    /** Shows in the gauges how they are now. */
    void show() {
        existing.forEach(OpenSubscription::show);
    }

    /** Those that exist, or what stands for them if there is none. */
    private List<OpenSubscription> looked() {
        return existing.isEmpty() ? List.of(own) : existing;
    }

    @Override
    public long settledByAll() {
        if (!changes.isIdle()) {
            return 0; // whatever begins may begin with the oldest
        }
        return existing.isEmpty() ? own.files().settled().settledBelow() - 1 : lowestFloor(); // what was dropped may go
    }

    @Override
    public long lowestFloor() {
        long lowest = Long.MAX_VALUE;
        for (OpenSubscription each : looked()) {
            lowest = Math.min(lowest, each.subscription().floor());
        }
        return lowest;
    }

    @Override
    public long endOfOldest(long events) {
        OpenSubscription most = looked().get(0);
        for (OpenSubscription each : looked()) {
            most = each.subscription().backlog() > most.subscription().backlog() ? each : most;
        }
        return most.endOfOldest(events);
    }

    @Override
    public void settleBelow(long id) {
        store.subscriptions().settleBelow(id);
    }

    @Override
    public long drop(long upToId) {
        long dropped = 0;
        for (OpenSubscription each : existing) {
            dropped = Math.max(dropped, each.subscription().drop(upToId));
        }
        if (!ownExists()) {
            long ofNobody = own.subscription().drop(upToId);
            dropped = existing.isEmpty() ? ofNobody : dropped;
        }
        return dropped;
    }
}
