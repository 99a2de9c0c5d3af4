package io.tabletrelay.core.delivery;

import io.tabletrelay.core.config.DeliveryConfig;
import io.tabletrelay.core.metrics.PipeMetrics;
import io.tabletrelay.core.metrics.RedeliveryReason;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.EventTailer;
import io.tabletrelay.core.store.acks.AttemptJournal;
import io.tabletrelay.core.store.acks.SettledIds;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * A durable reading of a pipe: what was delivered to the consumers that are bound, what they settled, and what must go again.
 *
 * <p>Each unsettled event is in exactly one place: not yet delivered (from the cursor on), in flight (in one consumer's window),
 * waiting for its redelivery (in the schedule), or being given up. It is put into the window before its first byte can leave.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
public final class Subscription implements AutoCloseable {
    private static final int LOSSES_UNTIL_ONE_AT_A_TIME = 3;
    /** Then each further loss of an event that was alone in flight waits longer, or a flapping consumer would use it up. */
    private static final int FREE_LOSSES = 3;

    private static final int MOST_DELIVERY_NUMBER = 0xFFFF;

    private final EventLog log;
    private final SettledIds settled;
    private final GivingUp givingUp;
    private final FailedDeliveries failed;
    private final SettledIdsGrowth growth;
    private final NewEvents newEvents;
    private final EventReader redeliveries;
    private final RedeliverySchedule schedule = new RedeliverySchedule();
    private final List<Consumer> consumers = new ArrayList<>();
    /** Those whose acks are to be answered, also if they are not bound any more. */
    private final Set<Consumer> answering = new LinkedHashSet<>();

    private final Backoff backoff;
    private final LongSupplier nanoTime;
    private final InstantSource clock;
    private final LossStreak losses;
    private final DeliveryContext context;
    private final PipeMetrics metrics;
    private final PlaceSearch places;

    /** Whose turn it is among several. */
    private int next;
    /** In this turn. */
    private int acked;

    private int inFlight;
    private boolean forcing;
    private boolean stopped;
    private boolean paused;
    private boolean finished;

    /** Takes up the reading where it was left: everything unsettled that was delivered before goes again. */
    public Subscription(
            EventLog log,
            SettledIds settled,
            AttemptJournal attempts,
            DeadLetters deadLetters,
            DiskTasks diskTasks,
            DeliveryContext context,
            LossStreak losses,
            PipeMetrics metrics) {
        DeliveryConfig config = context.config();
        this.log = log;
        this.settled = settled;
        this.nanoTime = context.nanoTime();
        this.clock = context.clock();
        this.growth = new SettledIdsGrowth(settled, diskTasks, nanoTime);
        this.givingUp = new GivingUp(deadLetters, diskTasks, this::gaveUp, nanoTime, clock);
        this.redeliveries = new EventReader(log.openTailer(), diskTasks);
        this.failed = new FailedDeliveries(
                attempts, schedule, givingUp, redeliveries, config.redelivery().maxDeliveries(), nanoTime, clock);
        this.backoff = new Backoff(config.redelivery(), context.random());
        this.losses = losses;
        this.context = context;
        this.metrics = metrics;
        advanceFloor();
        EventReader reader = new EventReader(log.openTailer(), diskTasks);
        this.newEvents = new NewEvents(
                log, reader, settled, growth, givingUp, this::isElsewhere, deadLetters.subscription(), metrics);
        this.places = new PlaceSearch(
                log, settled, consumers, schedule, failed, givingUp, growth, redeliveries, deadLetters.subscription());
        takeUpAttempts(config.redelivery().maxBackoff().toMillis());
    }

    /**
     * An event may have been settled, and the process killed, before the journal was told. A power cut may have left the
     * journal newer than the ring: what was not delivered as far as the ring knows comes in its order.
     */
    private void takeUpAttempts(long mostMillis) {
        long nowMillis = clock.millis();
        failed.forEachStored(attempt -> {
            if (attempt.id() > log.lastId() || settled.isSettled(attempt.id())) {
                failed.forget(attempt.id());
            } else if (attempt.id() <= settled.deliveredUpTo()) {
                // the clock may have been set back since
                long waitMillis = Math.max(0, Math.min(mostMillis, attempt.dueAtMillis() - nowMillis));
                schedule.at(nanoTime.getAsLong() + waitMillis * 1_000_000, attempt.id());
            }
        });
    }

    /** This connection is served from now on, beside those that are. */
    public void attach(Consumer consumer) {
        consumer.held().clear(); // what it had of the pipe as it was open before
        consumer.answered().clear();
        consumer.served(context.quota(), context.wake());
        consumers.add(consumer);
    }

    /**
     * The connection is served no more: what it held goes back, to be delivered again before anything new.
     *
     * @param lost true if the connection went away by itself, which counts as a failed delivery of an event that was alone
     *     in flight
     */
    public void detach(Consumer consumer, boolean lost) {
        if (!consumers.remove(consumer)) {
            return;
        }
        long[] returned = consumer.held().clear();
        inFlight -= returned.length;
        consumer.left();
        for (long id : returned) {
            schedule.now(id);
        }
        if (lost && returned.length > 0) {
            losses.lost();
        }
        if (lost && returned.length == 1) {
            int failures = failed.failures(returned[0]);
            failed.failed(
                    returned[0],
                    "connection lost",
                    failures < FREE_LOSSES ? 0 : backoff.nanosAfter(failures - FREE_LOSSES + 1));
        }
    }

    /** The relay is stopping: nothing is sent any more, acks still count. */
    public void stopSending() {
        stopped = true;
    }

    /** Nothing is sent while that is so, and no ack is missed; acks count. */
    public void pause(boolean pauses) {
        paused = pauses;
    }

    /** No event follows those that are there: who is bound is told so when all are settled. */
    public void finish() {
        finished = true;
    }

    /** A connection is done with the events from the first to the last id. Returns false if some of them were never delivered. */
    public boolean ack(Consumer from, long firstId, long lastId) {
        long last = Math.min(lastId, Math.max(settled.deliveredUpTo(), settled.floor()));
        boolean isVoid = firstId == lastId && firstId > settled.floor() && log.skipVoid(firstId) != firstId;
        if (firstId < 1 || firstId > last || isVoid) {
            return false;
        }
        long id = firstUnsettled(Math.max(firstId, settled.floor() + 1));
        for (; id <= last; id = firstUnsettled(id + 1)) {
            if (settle(id)) {
                acked++;
            }
        }
        answer(from, firstId, last);
        return lastId == last;
    }

    /**
     * The connection is done with every event up to this id that it holds: what was sent on it and neither answered nor taken
     * back. Returns false if there is no such event.
     */
    public boolean ackUpTo(Consumer from, long id) {
        long[] ids = from.held().idsUpTo(id);
        for (long each : ids) {
            if (settle(each)) {
                acked++;
            }
            answer(from, each, each);
        }
        return ids.length > 0 || (id > 0 && id <= settled.floor());
    }

    private void answer(Consumer from, long firstId, long lastId) {
        if (from.options().confirmAcks()) {
            from.answered().add(firstId, lastId);
            answering.add(from);
        }
    }

    /** A force begins that makes durable what is settled by now. */
    public void forceStarts() {
        forcing = true;
        answering.forEach(each -> each.answered().forceStarts());
    }

    /** That force has ended. */
    public void forceEnded(boolean covered) {
        forcing = false;
        answering.forEach(each -> each.answered().forceEnded(covered, each.sink()));
        answering.removeIf(each -> each.answered().isEmpty());
    }

    private long firstUnsettled(long from) {
        long id = from;
        for (long live = log.skipVoid(settled.firstUnsettled(id));
                live != id;
                live = log.skipVoid(settled.firstUnsettled(id))) {
            id = live;
        }
        return id;
    }

    /**
     * A consumer could not use this event. Counts only from the connection that has it; returns false otherwise.
     *
     * @param delayNanos how long it waits before it goes again; negative: as long as the backoff is
     */
    public boolean nack(Consumer from, long id, long delayNanos, String reason) {
        if (from.held().removeTimedOut(id)) { // this copy's failure was counted when it timed out
            return true;
        }
        if (!takeBack(from, id)) {
            return false;
        }
        metrics.nacked(1);
        failed.failed(
                id,
                reason.isEmpty() ? "negative ack" : reason,
                delayNanos < 0 ? backoff.nanosAfter(failed.failures(id) + 1) : delayNanos);
        return true;
    }

    /** The event is given up at once. Counts only from the connection that has it; returns false otherwise. */
    public boolean terminate(Consumer from, long id, String reason) {
        if (!takeBack(from, id)) {
            return false;
        }
        failed.terminate(id, reason.isEmpty() ? "terminated by its consumer" : reason);
        return true;
    }

    /** The consumer still works on the event. Counts only from the connection that has it; returns false otherwise. */
    public boolean hold(Consumer from, long id) {
        return from.held().hold(id, from.sink(), nanoTime.getAsLong());
    }

    /** From its window into the schedule. */
    private boolean takeBack(Consumer from, long id) {
        if (!consumers.contains(from) || !from.held().remove(id)) {
            return false;
        }
        returned(from, 1);
        schedule.now(id);
        return true;
    }

    private void returned(Consumer from, int events) {
        inFlight -= events;
        from.returned(events);
    }

    /**
     * Everything up to this id is settled, delivered or not; the disk has been told. Returns how many events were not settled
     * before.
     */
    public long drop(long upToId) {
        long before = backlog();
        settled.skipTo(upToId);
        for (Consumer each : consumers) {
            int had = each.held().inFlight();
            each.held().removeUpTo(upToId);
            returned(each, had - each.held().inFlight());
        }
        schedule.removeUpTo(upToId);
        failed.forgetUpTo(upToId);
        givingUp.forget(0, upToId);
        advanceFloor();
        return before - backlog();
    }

    /** Sends what may be sent, up to about that many payload bytes. Returns how many events that were. */
    public int deliver(int budgetBytes) {
        if (consumers.isEmpty() || stopped || paused) {
            return 0;
        }
        long now = nanoTime.getAsLong();
        int sent = 0;
        int bytes = 0;
        for (int i = 0; i < consumers.size(); i++) {
            expire(consumers.get(i), now);
        }
        for (int unserved = 0; unserved < consumers.size() && bytes < budgetBytes; ) {
            Consumer consumer = consumers.get(next % consumers.size());
            int most = consumers.size() == 1
                    ? Integer.MAX_VALUE
                    : consumer.options().batchEvents();
            int before = sent;
            for (int n = 0; n < most && bytes < budgetBytes && consumer.sink().writable(); n++) {
                int eventBytes = sendNext(consumer, now);
                if (eventBytes < 0) {
                    break;
                }
                bytes += eventBytes;
                sent++;
            }
            if (sent > before) {
                consumer.sink().flush();
            }
            unserved = sent > before ? 0 : unserved + 1;
            next = (next + 1) % consumers.size();
        }
        if (sent > 0) {
            metrics.delivered(sent, bytes);
        }
        return sent;
    }

    /** Does what is due besides delivering; call once a turn. Returns true if there was something. */
    public boolean upkeep() {
        if (acked > 0) {
            metrics.acked(acked);
            acked = 0;
        }
        advanceFloor();
        failed.giveUpTerminated();
        if (!answering.isEmpty() && !forcing && !settled.wantsForce()) {
            answering.forEach(each -> each.answered().tellAll(each.sink()));
            answering.clear();
        }
        if (finished && isAllSettled()) {
            consumers.forEach(Consumer::end);
        }
        return givingUp.write();
    }

    /** When there will be something to do without a command, or {@code otherwise}. */
    public long nextDeadlineNanos(long otherwise) {
        long deadline = givingUp.retryNanos(otherwise);
        if (consumers.isEmpty() || stopped || paused) {
            return deadline;
        }
        boolean mayTake = false;
        for (int i = 0; i < consumers.size(); i++) {
            Consumer each = consumers.get(i);
            deadline = earlier(deadline, each.held().nextDeadlineNanos(nanoTime.getAsLong(), otherwise));
            mayTake |= credit(each) > 0 && each.sink().writable();
        }
        if (mayTake) { // otherwise a line, or the socket, will wake the pipe
            deadline = earlier(deadline, growth.retryNanos(otherwise));
            deadline = earlier(deadline, schedule.nextDueNanos(otherwise));
        }
        return deadline;
    }

    public long floor() {
        return settled.floor();
    }

    public long deliveredUpTo() {
        return settled.deliveredUpTo();
    }

    /** The lowest id that is not settled; one above the log's last if there is none. */
    public long nextId() {
        return firstUnsettled(settled.floor() + 1);
    }

    /** Content type of that event; empty if it cannot be said at once. */
    public String contentTypeOf(long id) {
        return id <= log.durableId() && redeliveries.read(id) == EventTailer.Step.EVENT
                ? redeliveries.found().contentType()
                : "";
    }

    /** Events up to the log's end that are not settled. */
    public long backlog() {
        long floor = settled.floor();
        return log.lastId() - floor - settled.settledAboveFloor() - log.voidIdsAbove(floor);
    }

    /** How many connections have it. */
    public int consumers() {
        return consumers.size();
    }

    public int inFlight() {
        return inFlight;
    }

    /** Events that were delivered and wait to go again, those being given up included. */
    public int waiting() {
        return schedule.size() + givingUp.size();
    }

    /** True: nothing is known here that files do not say, and nothing will be done without a command. */
    public boolean isIdle() {
        for (Consumer each : consumers) {
            if (!each.held().isEmpty()) {
                return false;
            }
        }
        return givingUp.size() == 0 && (consumers.isEmpty() || paused || backlog() == 0);
    }

    /** True: every event is settled, as durably as the pipe settles. */
    public boolean isAllSettled() {
        return backlog() == 0 && !settled.wantsForce();
    }

    public String trouble() {
        return givingUp.trouble().isEmpty() ? growth.trouble() : givingUp.trouble();
    }

    public EventState stateOf(long id) {
        return new EventState(id, stateWord(id), failed.failures(id), failed.lastReason(id));
    }

    /** Where the event is, and what keeps it there. {@code start}: the subscription's first event. */
    public EventPlace placeOf(long id, long start) {
        boolean oneAtATime = losses.losses() >= LOSSES_UNTIL_ONE_AT_A_TIME && inFlight > 0;
        return places.placeOf(id, start, new PlaceSearch.Mood(stopped, paused, oneAtATime), nanoTime.getAsLong());
    }

    private String stateWord(long id) {
        if (id < 1 || id > log.lastId()) {
            return "unknown";
        }
        if (id < log.firstId() && log.hasDeleted()) {
            return "settled";
        }
        if (log.skipVoid(id) != id) {
            return "void";
        }
        if (id <= settled.floor() || settled.isSettled(id)) {
            return "settled";
        }
        if (isInFlight(id)) {
            return "in-flight";
        }
        return schedule.contains(id) || givingUp.contains(id) ? "waiting" : "undelivered";
    }

    /** Closes what it reads with. I/O thread. */
    @Override
    public void close() {
        newEvents.close();
        redeliveries.close();
    }

    /** To be called before {@link #close}, on the transfer thread: its consumers have no share of what all may have. */
    public void letGo() {
        consumers.forEach(Consumer::left);
    }

    private void expire(Consumer consumer, long now) {
        HeldEvents held = consumer.held();
        held.lookAgain();
        consumer.written(consumer.sink().writtenBytes());
        for (long id = held.nextExpired(consumer.sink(), now); id != 0; id = held.nextExpired(consumer.sink(), now)) {
            returned(consumer, 1);
            metrics.timedOut(1);
            schedule.now(id);
            failed.failed(id, "ack timeout", 0);
            if (!schedule.contains(id)) { // given up
                held.removeTimedOut(id);
            }
        }
    }

    private int credit(Consumer consumer) {
        int most = losses.losses() < LOSSES_UNTIL_ONE_AT_A_TIME ? Integer.MAX_VALUE : inFlight > 0 ? 0 : 1;
        HeldEvents held = consumer.held();
        int credit = held.credit(most);
        return credit > 0 && consumer.mayTake() ? credit : 0; // in this order: who waits for the quota could use it
    }

    /** Returns the bytes of the event that was sent; negative: nothing may be sent to that consumer now. */
    private int sendNext(Consumer consumer, long now) {
        HeldEvents held = consumer.held();
        while (true) {
            boolean credit = credit(consumer) > 0;
            long again = credit ? schedule.firstDue(now) : held.firstTimedOut();
            if (consumer.options().strict() && schedule.size() > 0) {
                long lowest = schedule.lowest();
                if (newEvents.goesBefore(lowest)) {
                    again = 0;
                } else if (again != lowest) {
                    return -1; // an earlier event waits
                }
            }
            if (again == 0) {
                return credit ? sendNew(consumer, now) : -1;
            }
            EventTailer.Step step = failed.isTerminated(again) ? EventTailer.Step.OPENING : redeliveries.read(again);
            if (step == EventTailer.Step.OPENING || step == EventTailer.Step.END) { // END: not forced to disk yet
                return -1;
            }
            boolean event = step == EventTailer.Step.EVENT;
            if (event && !held.fits(redeliveries.found().payload().remaining())) {
                return -1;
            }
            schedule.remove(again);
            boolean timedOut = held.removeTimedOut(again);
            if (event) {
                int failures = failed.failures(again);
                metrics.redelivered(1, reason(timedOut, failures));
                return send(consumer, redeliveries.found(), Math.max(2, failures + 1), now);
            }
            givingUp.damaged(again);
        }
    }

    private static RedeliveryReason reason(boolean timedOut, int failures) {
        if (timedOut) {
            return RedeliveryReason.ACK_TIMEOUT;
        }
        return failures > 0 ? RedeliveryReason.NACK : RedeliveryReason.CONNECTION_LOST;
    }

    private int sendNew(Consumer consumer, long now) {
        EventTailer event = newEvents.next();
        if (event == null) {
            return -1;
        }
        if (consumer.options().strict() && schedule.size() > 0 && schedule.lowest() < event.id()) {
            return sendNext(consumer, now); // what stood before it was another subscription's
        }
        if (!consumer.held().fits(event.payload().remaining())) {
            return -1;
        }
        return send(consumer, event, newEvents.taken() ? 2 : 1, now);
    }

    private boolean isInFlight(long id) {
        for (int i = 0; i < consumers.size(); i++) {
            if (consumers.get(i).held().isInFlight(id)) {
                return true;
            }
        }
        return false;
    }

    private boolean isElsewhere(long id) {
        return settled.isSettled(id) || isInFlight(id) || schedule.contains(id) || givingUp.contains(id);
    }

    private int send(Consumer consumer, EventTailer event, int delivery, long now) {
        long id = event.id();
        ByteBuffer payload = event.payload();
        int payloadBytes = payload.remaining();
        settled.raiseDeliveredUpTo(id);
        consumer.held().sending(id, payloadBytes, now);
        inFlight++;
        Map<String, String> headers = consumer.options().headers() ? event.headers() : Map.of();
        consumer.sent(consumer.sink()
                .deliver(id, event.appendedAtMillis(), Math.min(delivery, MOST_DELIVERY_NUMBER), payload, headers));
        return payloadBytes;
    }

    private void gaveUp(long id) {
        if (settle(id)) {
            metrics.deadLettered(1);
        }
    }

    private boolean settle(long id) {
        if (!settled.settle(id)) {
            return false;
        }
        if (!removeFromHands(id)) {
            schedule.remove(id);
        }
        failed.forget(id);
        givingUp.forget(id, id);
        losses.ends();
        return true;
    }

    private boolean removeFromHands(long id) {
        for (int i = 0; i < consumers.size(); i++) {
            HeldEvents held = consumers.get(i).held();
            if (held.remove(id)) {
                returned(consumers.get(i), 1);
                return true;
            }
            held.removeTimedOut(id);
        }
        return false;
    }

    private void advanceFloor() {
        long next = settled.floor() + 1;
        long live = log.skipVoid(next);
        while (live != next) {
            settled.skipTo(live - 1);
            next = settled.floor() + 1;
            live = log.skipVoid(next);
        }
    }

    private static long earlier(long a, long b) {
        return b - a < 0 ? b : a;
    }
}
