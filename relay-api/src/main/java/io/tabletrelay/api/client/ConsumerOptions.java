package io.tabletrelay.api.client;

import io.tabletrelay.api.PipeName;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * All that a consumer was told when it was built.
 *
 * @param bind the options of the BIND line
 * @param windowEvents most events that it holds at once
 * @param manualAck the handler's return answers nothing
 * @param eventsAtOnce most events in one call of the handler
 * @param executor null: threads of its own
 * @param holdEvery null: only {@link RelayEvent#hold} does it
 */
record ConsumerOptions(
        URI address,
        PipeName pipe,
        HttpClient http,
        Map<String, String> bind,
        int windowEvents,
        BatchHandler handler,
        boolean manualAck,
        int eventsAtOnce,
        int concurrency,
        @Nullable Executor executor,
        @Nullable Duration holdEvery,
        Duration longestSilence,
        Duration closeTimeout) {
    String bindLine() {
        return Query.line("BIND", pipe, bind);
    }
}
