package io.tabletrelay.core.pipe;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.DeadLetter;
import io.tabletrelay.core.delivery.DeadLetters;
import io.tabletrelay.core.delivery.EventPlace;
import io.tabletrelay.core.delivery.Explained;
import io.tabletrelay.core.delivery.Explanation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A question where an event is, answered in two steps: what the pipe knows, and what its dead letters say.
 *
 * <p>Threading: immutable; asked by the transfer thread, completed by an I/O task.
 *
 * @param subscription the only one that is asked about; empty: all
 */
record Explaining(String pipe, long id, String subscription) {
    /** What the pipe knows of it. Transfer thread. */
    record Places(Map<String, EventPlace> bySubscription, Explanation words) {}

    Places look(OpenPipe open) {
        String state = open.life().current().paused()
                ? "paused"
                : open.life().current().state().name();
        return new Places(open.subscriptions().placesOf(id), new Explanation(state, open.droppedEvents()));
    }

    /**
     * The answer. I/O thread.
     *
     * @throws RelayException with NO_SUCH_SUBSCRIPTION if there is none of that name
     */
    Explained explain(Places places, DeadLetters letters) {
        Map<String, DeadLetter> given = letters.ofEvent(id);
        List<Explained.OfSubscription> texts = new ArrayList<>();
        places.bySubscription().forEach((name, place) -> {
            if (subscription.isEmpty() || subscription.equals(name)) {
                DeadLetter letter = given.get(name);
                boolean handled = letter != null && letters.isHandled(letter.number());
                texts.add(new Explained.OfSubscription(name, places.words().of(name, place, letter, handled)));
            }
        });
        if (texts.isEmpty() && !subscription.isEmpty()) {
            throw new RelayException(
                    ErrorCode.NO_SUCH_SUBSCRIPTION,
                    "no such subscription: pipe=" + pipe + ", subscription=" + subscription);
        }
        return Explained.of(
                pipe, id, texts, "there is no subscription yet, so it is kept for the first one that wants it");
    }

    /** The answer while the pipe cannot be asked; null: the question is refused instead. */
    @Nullable
    Explained explain(RelayException why) {
        boolean failed = why.code() == ErrorCode.PIPE_FAILED || why.code() == ErrorCode.STORAGE_FULL;
        return failed
                ? Explained.of(pipe, id, List.of(), "the pipe has FAILED and sends nothing: " + why.reason())
                : null;
    }
}
