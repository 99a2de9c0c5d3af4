package io.tabletrelay.api.client;

/** What a consumer does with one event. */
@FunctionalInterface
public interface EventHandler {
    /** When this throws, the event is refused (nack) with the exception's message as the reason, and comes again later. */
    void handle(RelayEvent event) throws Exception;
}
