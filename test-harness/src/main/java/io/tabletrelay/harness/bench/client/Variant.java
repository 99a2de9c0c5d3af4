package io.tabletrelay.harness.bench.client;

/** What is measured, and what it is compared with; each has a process of its own. */
public enum Variant {
    RELAY("relay", "relay"),
    RELAY_PIPES("relay, 1,000 pipes", "relay-pipes"),
    RELAY_DISK("relay at disk", "relay-disk"),
    RELAY_HTTP("relay, over HTTP", "relay"),
    PLAIN("(a) plain sends", "plain"),
    GATHERED("(b) edge, no store", "gathered"),
    CHRONICLE("(c) Chronicle alone", "chronicle"),
    FORCED("(d) append and force", "forced"),
    BLAST("client's ceiling", "blast");

    private final String label;
    private final String server;

    Variant(String label, String server) {
        this.label = label;
        this.server = server;
    }

    /** As the tables call it. */
    public String label() {
        return label;
    }

    /** As the server process calls it. */
    String server() {
        return server;
    }
}
