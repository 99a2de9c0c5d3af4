package io.tabletrelay.core.metrics;

import static io.tabletrelay.core.metrics.MetricName.Kind.COUNTER;
import static io.tabletrelay.core.metrics.MetricName.Kind.GAUGE;

import java.util.List;

/** Every metric there is: its name, what it counts, and by what it is told apart. Counters' names get {@code _total} when shown. */
enum MetricName {
    PIPE_APPENDED_EVENTS("relay_pipe_appended_events", COUNTER, "Events stored and confirmed.", "pipe"),
    PIPE_APPENDED_BYTES("relay_pipe_appended_bytes", COUNTER, "Payload bytes stored and confirmed.", "pipe"),
    PIPE_REFUSED("relay_pipe_refused_publishes", COUNTER, "Publishes that the pipe refused.", "pipe", "code"),
    PIPE_DELIVERED_EVENTS(
            "relay_pipe_delivered_events", COUNTER, "Deliveries to consumers, redeliveries included.", "pipe"),
    PIPE_DELIVERED_BYTES("relay_pipe_delivered_bytes", COUNTER, "Payload bytes of those deliveries.", "pipe"),
    PIPE_ACKED("relay_pipe_acked_events", COUNTER, "Events settled by an ack.", "pipe"),
    PIPE_NACKED("relay_pipe_nacked_events", COUNTER, "Deliveries that a consumer refused.", "pipe"),
    PIPE_TIMED_OUT("relay_pipe_timed_out_events", COUNTER, "Deliveries not settled within the ack timeout.", "pipe"),
    PIPE_REDELIVERED("relay_pipe_redelivered_events", COUNTER, "Deliveries after the first.", "pipe", "reason"),
    PIPE_DEAD_LETTERS("relay_pipe_dead_letters", COUNTER, "Events given up.", "pipe"),
    PIPE_DROPPED("relay_pipe_dropped_events", COUNTER, "Unsettled events deleted to make room for newer ones.", "pipe"),
    PIPE_LATE_ACKS_DROPPED(
            "relay_pipe_late_acks_dropped", COUNTER, "Acks of events that were never delivered.", "pipe"),
    PIPE_BACKLOG("relay_pipe_backlog_events", GAUGE, "Events not yet settled.", "pipe"),
    PIPE_IN_FLIGHT("relay_pipe_in_flight_events", GAUGE, "Events delivered and not settled.", "pipe"),
    PIPE_WAITING("relay_pipe_waiting_events", GAUGE, "Events waiting for their redelivery.", "pipe"),
    PIPE_FLOOR("relay_pipe_settled_floor", GAUGE, "Highest id up to which every id is settled.", "pipe"),
    PIPE_LAST_ID("relay_pipe_last_id", GAUGE, "Highest id given.", "pipe"),

    SUBSCRIPTION_BACKLOG(
            "relay_subscription_backlog_events",
            GAUGE,
            "Events that the subscription has not settled.",
            "pipe",
            "subscription"),
    SUBSCRIPTION_IN_FLIGHT(
            "relay_subscription_in_flight_events",
            GAUGE,
            "Events delivered to the subscription and not settled.",
            "pipe",
            "subscription"),
    SUBSCRIPTION_WAITING(
            "relay_subscription_waiting_events",
            GAUGE,
            "Events waiting for their redelivery to the subscription.",
            "pipe",
            "subscription"),
    SUBSCRIPTION_FLOOR(
            "relay_subscription_settled_floor",
            GAUGE,
            "Highest id up to which the subscription has settled every id.",
            "pipe",
            "subscription"),

    SERIALIZED("relay_serializer_events", COUNTER, "Source events turned into payloads.", "type"),
    FILTERED("relay_serializer_filtered_events", COUNTER, "Source events of which nothing was to be stored.", "type"),
    REFUSED("relay_serializer_refused_events", COUNTER, "Source events refused by or for the serializer.", "type"),

    EDGE_CONNECTIONS("relay_edge_connections", GAUGE, "Open WebSocket connections."),
    EDGE_UNSENT_BYTES(
            "relay_edge_most_unsent_bytes", GAUGE, "Bytes waiting for the slowest WebSocket connection to take them."),
    EDGE_UNWRITTEN_BYTES(
            "relay_edge_unwritten_bytes",
            GAUGE,
            "Bytes of events given to the consumers of all pipes and not yet taken by their sockets."),
    EDGE_IN_FLIGHT("relay_edge_in_flight_events", GAUGE, "Events that the consumers of all pipes have in flight."),
    EDGE_MALFORMED_LINES("relay_edge_malformed_lines", COUNTER, "Lines that could not be understood."),
    EDGE_EARLY_ACKS_DROPPED(
            "relay_edge_early_acks_dropped", COUNTER, "Acks before a bind that came to nothing or were too many."),
    EDGE_REFUSED_BINDS("relay_edge_refused_binds", COUNTER, "Binds and publishes of clients that came to nothing."),
    EDGE_REFUSED_HANDSHAKES(
            "relay_edge_refused_handshakes", COUNTER, "Connections refused before they were WebSockets."),
    EDGE_SLOW_CONSUMER_CLOSES(
            "relay_edge_slow_consumer_closes", COUNTER, "Consumers closed because they did not read."),

    JVM_HEAP_USED("jvm_memory_heap_used_bytes", GAUGE, "Heap in use."),
    JVM_HEAP_MAX("jvm_memory_heap_max_bytes", GAUGE, "Largest heap allowed."),
    JVM_NON_HEAP_USED("jvm_memory_non_heap_used_bytes", GAUGE, "Memory the JVM uses beside the heap."),
    JVM_DIRECT_BUFFERS("jvm_buffers_direct_used_bytes", GAUGE, "Memory of direct buffers."),
    JVM_MAPPED_BUFFERS("jvm_buffers_mapped_used_bytes", GAUGE, "Address space of mapped buffers."),
    JVM_THREADS("jvm_threads", GAUGE, "Live threads."),
    JVM_DEADLOCKED_THREADS("jvm_threads_deadlocked", GAUGE, "Threads that wait for each other for ever."),
    JVM_GC_COLLECTIONS("jvm_gc_collections", COUNTER, "Garbage collections.", "gc"),
    JVM_GC_SECONDS("jvm_gc_seconds", COUNTER, "Time spent in garbage collections.", "gc"),
    PROCESS_FILES_RATIO("process_open_files_ratio", GAUGE, "Open file handles as a part of the most allowed.");

    /** How a metric's value moves. */
    enum Kind {
        /** Only up. */
        COUNTER,
        /** Up and down. */
        GAUGE
    }

    private final String text;
    private final Kind kind;
    private final String help;

    // made by List.of
    @SuppressWarnings("ImmutableEnumChecker")
    private final List<String> labels;

    MetricName(String text, Kind kind, String help, String... labels) {
        this.text = text;
        this.kind = kind;
        this.help = help;
        this.labels = List.of(labels);
    }

    String text() {
        return text;
    }

    Kind kind() {
        return kind;
    }

    String help() {
        return help;
    }

    List<String> labels() {
        return labels;
    }
}
