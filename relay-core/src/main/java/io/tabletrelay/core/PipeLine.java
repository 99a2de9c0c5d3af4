package io.tabletrelay.core;

import com.fasterxml.jackson.databind.JsonNode;

/** A pipe's status or glance in one line. */
final class PipeLine {
    private PipeLine() {}

    static String of(JsonNode pipe) {
        StringBuilder line = new StringBuilder()
                .append("pipe=")
                .append(pipe.path("name").asText())
                .append(", state=")
                .append(pipe.path("state").asText());
        if (pipe.path("paused").asBoolean()) {
            line.append(" (paused)");
        }
        add(line, "version", pipe.path("version"));
        add(line, "finished at id", pipe.path("finishedAtId"));
        add(line, "last id", pipe.path("lastId"));
        add(line, "backlog", pipe.path("backlog"));
        add(line, "in flight", pipe.path("inFlight"));
        line.append(pipe.path("consumer").asBoolean() ? ", consumer bound" : "");
        String reason = pipe.path("reason").asText();
        return reason.isEmpty()
                ? line.toString()
                : line.append(", reason: ").append(reason).toString();
    }

    private static void add(StringBuilder line, String name, JsonNode number) {
        if (number.isNumber()) {
            line.append(", ").append(name).append('=').append(number.asLong());
        }
    }
}
