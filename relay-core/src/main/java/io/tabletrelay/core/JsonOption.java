package io.tabletrelay.core;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import picocli.CommandLine.Option;

/**
 * How a command prints what it got.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
final class JsonOption {
    @Option(names = "--json", description = "print JSON, as HTTP answers it")
    private boolean json;

    void print(PrintWriter out, JsonNode whole, String text) {
        out.println(json ? whole.toString() : text);
    }

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }
}
