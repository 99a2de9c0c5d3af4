package io.tabletrelay.api.client;

import io.tabletrelay.api.PipeName;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/** The first line of a connection: {@code VERB:pipe?name=value&name=value}, percent-encoded. */
final class Query {
    private Query() {}

    static String line(String verb, PipeName pipe, Map<String, String> options) {
        String query = options.entrySet().stream()
                .map(option -> option.getKey() + "=" + encoded(option.getValue()))
                .collect(Collectors.joining("&"));
        return verb + ":" + encoded(pipe.value()) + (query.isEmpty() ? "" : "?" + query);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
