package io.tabletrelay.core.http;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.DeadLetter;
import io.tabletrelay.core.delivery.DeliverySink;
import io.tabletrelay.core.delivery.EventState;
import io.tabletrelay.core.delivery.Explained;
import io.tabletrelay.core.delivery.HandledCount;
import io.tabletrelay.core.delivery.LetterContent;
import io.tabletrelay.core.delivery.LetterSelection;
import io.tabletrelay.core.pipe.AppendListener;
import io.tabletrelay.core.pipe.ConsumerLink;
import io.tabletrelay.core.pipe.Pipe;
import io.tabletrelay.core.pipe.PipeStatus;
import io.tabletrelay.core.pipe.StateChange;
import io.tabletrelay.core.pipe.SubscriptionStatus;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A pipe in memory, which a test can hold up or make refuse.
 *
 * <p>Threading: thread-safe by its monitor.
 */
public final class FakePipe implements Pipe {
    /** What is left of the event of each dead letter. */
    static final Payload LETTER =
            new Payload("text/plain", Map.of("plant", "north"), StandardCharsets.UTF_8.encode("42 °C"));

    private final PipeName name;
    private final PipeSettings settings;
    private final List<String> stored = new ArrayList<>();
    private final Map<String, Long> lastSequences = new HashMap<>();
    private final List<Runnable> heldUp = new ArrayList<>();
    private final List<DeadLetter> deadLetters = new ArrayList<>();
    private final Map<String, SubscriptionStatus> subscriptions = new TreeMap<>();
    private final List<LetterSelection> redriven = new ArrayList<>();
    private final List<LetterSelection> purged = new ArrayList<>();
    private boolean holding;
    private boolean silent;
    private @Nullable RuntimeException refusal;

    public FakePipe(PipeName name, PipeSettings settings) {
        this.name = name;
        this.settings = settings;
    }

    /** Appends are confirmed only once they are let go. */
    public synchronized void hold() {
        holding = true;
    }

    public void letGo() {
        List<Runnable> confirmations;
        synchronized (this) {
            holding = false;
            confirmations = List.copyOf(heldUp);
            heldUp.clear();
        }
        confirmations.forEach(Runnable::run);
    }

    public synchronized int heldUp() {
        return heldUp.size();
    }

    /** Every append fails with this. */
    public synchronized void refuse(RuntimeException with) {
        refusal = with;
    }

    PipeSettings settings() {
        return settings;
    }

    /** The status never comes. */
    public synchronized void fallSilent() {
        silent = true;
    }

    public synchronized void bury(DeadLetter letter) {
        deadLetters.add(letter);
    }

    /** What was appended, as text, in order. */
    public synchronized List<String> stored() {
        return List.copyOf(stored);
    }

    @Override
    public PipeName name() {
        return name;
    }

    @Override
    public synchronized void append(
            List<Payload> payloads,
            @Nullable ProducerSequence sequence,
            PipeSettings madeFor,
            AppendListener listener) {
        if (refusal != null) {
            listener.answered(null, refusal);
            return;
        }
        if (sequence != null) {
            long last = lastSequences.getOrDefault(sequence.producer(), 0L);
            if (sequence.sequence() <= last) {
                listener.answered(new Appended(7, 8, true, Durability.PROCESS), null);
                return;
            }
            if (sequence.sequence() != last + 1) {
                listener.answered(
                        null,
                        new RelayException(
                                ErrorCode.OUT_OF_SEQUENCE,
                                "sequence is not the next: last=" + last + "; go on from there"));
                return;
            }
            lastSequences.put(sequence.producer(), sequence.sequence());
        }
        long firstId = stored.size() + 1L;
        payloads.forEach(payload -> stored.add(
                StandardCharsets.UTF_8.decode(payload.bytes().duplicate()).toString()));
        Appended appended = payloads.isEmpty()
                ? new Appended(0, 0, false, Durability.PROCESS)
                : new Appended(firstId, stored.size(), false, Durability.PROCESS);
        if (holding) {
            heldUp.add(() -> listener.answered(appended, null));
        } else {
            listener.answered(appended, null);
        }
    }

    @Override
    public ConsumerLink bind(DeliverySink sink, BindOptions options) {
        throw new UnsupportedOperationException("nobody consumes here");
    }

    @Override
    public synchronized CompletionStage<PipeStatus> status() {
        return silent
                ? new CompletableFuture<>()
                : CompletableFuture.completedFuture(new PipeStatus(
                        name.value(),
                        1,
                        "OPEN",
                        "",
                        true,
                        1,
                        false,
                        null,
                        Durability.PROCESS,
                        1,
                        stored.size(),
                        0,
                        0,
                        0,
                        0,
                        0,
                        0,
                        0,
                        deadLetters.size(),
                        0,
                        4096,
                        false,
                        settings.values(),
                        List.copyOf(subscriptions.values())));
    }

    @Override
    public CompletionStage<Long> finish() {
        throw new UnsupportedOperationException("it never changes");
    }

    @Override
    public CompletionStage<PipeStatus> change(StateChange change, @Nullable Long ifVersion) {
        throw new UnsupportedOperationException("it never changes");
    }

    @Override
    public CompletionStage<PipeStatus> reopen() {
        throw new UnsupportedOperationException("it never changes");
    }

    @Override
    public synchronized CompletionStage<EventState> stateOf(long id) {
        String state = id <= stored.size() ? "undelivered" : "unknown";
        return CompletableFuture.completedFuture(new EventState(id, state, 0, ""));
    }

    @Override
    public CompletionStage<Explained> explain(long id, String subscription) {
        List<Explained.OfSubscription> one =
                List.of(new Explained.OfSubscription(subscription, "for subscription " + subscription + " it is fine"));
        return CompletableFuture.completedFuture(
                Explained.of(name.value(), id, subscription.isEmpty() ? List.of() : one, "nobody knows"));
    }

    @Override
    public synchronized CompletionStage<Long> lastSequence(String producer) {
        return CompletableFuture.completedFuture(lastSequences.getOrDefault(producer, 0L));
    }

    @Override
    public synchronized CompletionStage<List<DeadLetter>> deadLetters(long after, int limit) {
        return CompletableFuture.completedFuture(deadLetters.stream()
                .filter(letter -> letter.number() > after)
                .limit(limit)
                .toList());
    }

    @Override
    public synchronized CompletionStage<Optional<LetterContent>> deadLetter(long number) {
        return CompletableFuture.completedFuture(deadLetters.stream()
                .filter(letter -> letter.number() == number)
                .findFirst()
                .map(letter -> new LetterContent(letter, LETTER)));
    }

    @Override
    public synchronized CompletionStage<HandledCount> redrive(LetterSelection which) {
        redriven.add(which);
        return refusal == null
                ? CompletableFuture.completedFuture(new HandledCount(2, 1, 7, 8, true))
                : CompletableFuture.failedFuture(refusal);
    }

    @Override
    public synchronized CompletionStage<HandledCount> purge(LetterSelection which) {
        purged.add(which);
        return CompletableFuture.completedFuture(new HandledCount(3, 0, 0, 0, false));
    }

    public synchronized List<LetterSelection> redriven() {
        return List.copyOf(redriven);
    }

    public synchronized List<LetterSelection> purged() {
        return List.copyOf(purged);
    }

    @Override
    public synchronized CompletionStage<List<SubscriptionStatus>> subscriptions() {
        return CompletableFuture.completedFuture(List.copyOf(subscriptions.values()));
    }

    /** A start at a time begins with the event of that many ms. */
    @Override
    public synchronized CompletionStage<Created> createSubscription(String subscription, BindOptions.Start start) {
        SubscriptionStatus there = subscriptions.get(subscription);
        return CompletableFuture.completedFuture(
                there == null ? new Created(begin(subscription, start, 0), true) : new Created(there, false));
    }

    @Override
    public synchronized CompletionStage<SubscriptionStatus> resetSubscription(
            String subscription, BindOptions.Start start) {
        SubscriptionStatus there = subscriptions.get(subscription);
        return there == null
                ? CompletableFuture.failedFuture(noSuch(subscription))
                : CompletableFuture.completedFuture(begin(subscription, start, there.createdMillis()));
    }

    @Override
    public synchronized CompletionStage<Void> deleteSubscription(String subscription) {
        return subscriptions.remove(subscription) == null
                ? CompletableFuture.failedFuture(noSuch(subscription))
                : CompletableFuture.completedFuture(null);
    }

    private SubscriptionStatus begin(String subscription, BindOptions.Start start, long createdMillis) {
        long first = start instanceof BindOptions.Start.AtId at
                ? at.id()
                : start instanceof BindOptions.Start.AtTime time
                        ? time.time().toEpochMilli()
                        : start instanceof BindOptions.Start.Latest ? stored.size() + 1 : 1;
        SubscriptionStatus made =
                new SubscriptionStatus(subscription, first, createdMillis, first - 1, 0, 0, 0, 0, 0, 0);
        subscriptions.put(subscription, made);
        return made;
    }

    private static RelayException noSuch(String subscription) {
        return new RelayException(ErrorCode.NO_SUCH_SUBSCRIPTION, "no such subscription: subscription=" + subscription);
    }
}
