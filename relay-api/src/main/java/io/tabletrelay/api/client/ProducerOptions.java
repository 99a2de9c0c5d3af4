package io.tabletrelay.api.client;

import io.tabletrelay.api.PipeName;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Map;

/**
 * All that a producer was told when it was built.
 *
 * @param publish the options of the PUBLISH line
 * @param named a repeat is recognized
 * @param headers each frame has a header block
 */
record ProducerOptions(
        URI address,
        PipeName pipe,
        HttpClient http,
        Map<String, String> publish,
        boolean named,
        boolean headers,
        int unansweredEvents,
        long unansweredBytes,
        Duration longestSilence,
        Duration closeTimeout) {
    String publishLine() {
        return Query.line("PUBLISH", pipe, publish);
    }
}
