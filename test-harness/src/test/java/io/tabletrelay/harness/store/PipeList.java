package io.tabletrelay.harness.store;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.HashSet;
import java.util.Set;

/**
 * The names that a relay lists.
 *
 * <p>Threading: immutable.
 */
final class PipeList {
    private PipeList() {}

    static Set<String> of(URI http) throws IOException {
        Set<String> names = new HashSet<>();
        try (InputStream in = http.resolve("/v1/pipes?limit=1000").toURL().openStream()) {
            JsonNode list = new ObjectMapper().readTree(in);
            list.path("pipes").forEach(pipe -> names.add(pipe.path("name").asText()));
        }
        return names;
    }
}
