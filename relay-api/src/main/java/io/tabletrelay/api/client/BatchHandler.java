package io.tabletrelay.api.client;

import java.util.List;

/** What a consumer does with the events that have come, some at a time. */
@FunctionalInterface
public interface BatchHandler {
    /** When this throws, those that were not answered one by one are refused (nack), and come again later. */
    void handle(List<RelayEvent> events) throws Exception;
}
