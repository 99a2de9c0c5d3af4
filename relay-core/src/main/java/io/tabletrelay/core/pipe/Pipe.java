package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.delivery.BindOptions;
import io.tabletrelay.core.delivery.DeadLetter;
import io.tabletrelay.core.delivery.DeliverySink;
import io.tabletrelay.core.delivery.EventState;
import io.tabletrelay.core.delivery.Explained;
import io.tabletrelay.core.delivery.HandledCount;
import io.tabletrelay.core.delivery.LetterContent;
import io.tabletrelay.core.delivery.LetterSelection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One pipe, as sockets and HTTP see it: each call hands a command to the pipe's transfer thread and returns.
 *
 * <p>Threading: thread-safe. No call waits. Results complete on the transfer thread, on an I/O thread or at once: do not
 * block in what is chained to them, and do not throw.
 */
public interface Pipe {
    PipeName name();

    /**
     * Appends all payloads or none. Without payloads nothing is stored, and the sequence counts as used up until the pipe is
     * closed: then its producer may be asked for it, and answered so, again.
     *
     * @param madeFor the settings that the payloads were made for; where the pipe has others they are refused
     * @param listener told when the events are durable at the pipe's level, or refused
     */
    void append(
            List<Payload> payloads, @Nullable ProducerSequence sequence, PipeSettings madeFor, AppendListener listener);

    /** Asks for a subscription for this connection; the sink is told whether it is bound or refused. */
    ConsumerLink bind(DeliverySink sink, BindOptions options);

    /**
     * What the pipe is and how far its consumer is; completes once all commands given before it are done, and not while the
     * pipe is being opened: an unread log must not look like an empty one.
     */
    CompletionStage<PipeStatus> status();

    /** Where one event is. */
    CompletionStage<EventState> stateOf(long id);

    /** Where one event is and why, in words. {@code subscription}: the only one that is asked about; empty: all. */
    CompletionStage<Explained> explain(long id, String subscription);

    /** The highest sequence of that producer that was stored, or used up by a publish without payloads; 0: none. */
    CompletionStage<Long> lastSequence(String producer);

    /** Up to {@code limit} dead letters with numbers above {@code after}, oldest first; not those that were redriven or purged. */
    CompletionStage<List<DeadLetter>> deadLetters(long after, int limit);

    /** The dead letter of that number, with its event; empty: there is none, or it was redriven or purged. */
    CompletionStage<Optional<LetterContent>> deadLetter(long number);

    /**
     * Appends the events of dead letters anew, each for the subscription that gave it up, and once for each letter whatever happens.
     * How many at a time is bounded. Fails as an append does, and with NO_SUCH_SUBSCRIPTION; nothing is redriven then.
     */
    CompletionStage<HandledCount> redrive(LetterSelection which);

    /** Deletes dead letters for ever. How many at a time is bounded. */
    CompletionStage<HandledCount> purge(LetterSelection which);

    /** The subscriptions that there are. */
    CompletionStage<List<SubscriptionStatus>> subscriptions();

    /**
     * Makes a subscription, which is on disk when this completes. One that is there stays as it is.
     *
     * @param start where a new one begins
     */
    CompletionStage<Created> createSubscription(String subscription, BindOptions.Start start);

    /**
     * Begins a subscription anew: what was settled comes again from the start on. On disk when this completes; refused with
     * WRONG_STATE while it has a consumer.
     */
    CompletionStage<SubscriptionStatus> resetSubscription(String subscription, BindOptions.Start start);

    /** Deletes a subscription, which then holds no events back. On disk when this completes; refused as a reset is. */
    CompletionStage<Void> deleteSubscription(String subscription);

    /**
     * A subscription, and whether it is new.
     *
     * <p>Threading: immutable.
     */
    record Created(SubscriptionStatus subscription, boolean created) {}
    /**
     * End of stream: completes with the id of the last event (0: there never was one) once all that was appended before, and the
     * mark itself, is durable. From then on appends are refused with PIPE_FINISHED, but for repeats of what was stored, which are
     * answered as ever; so is this call when it is repeated. Fails with RelayException, and then the pipe is not finished.
     */
    CompletionStage<Long> finish();

    /**
     * Changes the pipe's state; completes with what it is then once that is on disk. What the pipe is already is not changed, and
     * its version stays.
     *
     * @param ifVersion the version that the state must have; null: any. Another one fails with {@link WrongVersionException}
     */
    CompletionStage<PipeStatus> change(StateChange change, @Nullable Long ifVersion);

    /** A failed pipe is opened now and not after its wait; completes when it is, or fails as that did. */
    CompletionStage<PipeStatus> reopen();
}
