package io.tabletrelay.harness.bench.client;

/** What is measured, and what it is compared with. */
public enum Variant {
    RELAY("relay", Server.RELAY),
    RELAY_HTTP("relay, over HTTP", Server.RELAY),
    PLAIN("(a) plain sends", Server.PLAIN),
    GATHERED("(b) edge, no store", Server.GATHERED),
    CHRONICLE("(c) Chronicle alone", Server.CHRONICLE),
    BLAST("client's ceiling", Server.BLAST);

    /** The kinds of server process. */
    public enum Server {
        RELAY,
        PLAIN,
        GATHERED,
        CHRONICLE,
        BLAST
    }

    private final String label;
    private final Server server;

    Variant(String label, Server server) {
        this.label = label;
        this.server = server;
    }

    /** As the tables call it. */
    public String label() {
        return label;
    }

    /** What runs for it. */
    public Server server() {
        return server;
    }
}
