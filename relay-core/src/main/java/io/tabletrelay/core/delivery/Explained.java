package io.tabletrelay.core.delivery;

import java.util.List;

/**
 * Where an event is, in words.
 *
 * <p>Threading: immutable.
 *
 * @param text one paragraph with all of it
 * @param subscriptions the same for each
 */
public record Explained(String pipe, long id, String text, List<OfSubscription> subscriptions) {
    /** For one subscription. */
    public record OfSubscription(String name, String text) {}

    /** Without subscriptions the paragraph says {@code otherwise}. */
    public static Explained of(String pipe, long id, List<OfSubscription> subscriptions, String otherwise) {
        List<String> texts = subscriptions.stream().map(OfSubscription::text).toList();
        String all = texts.isEmpty() ? otherwise : String.join("; ", texts);
        return new Explained(pipe, id, "event " + id + " of pipe " + pipe + ": " + all, List.copyOf(subscriptions));
    }
}
