package io.tabletrelay.core;

import io.tabletrelay.core.client.RelayHttp;
import java.net.URI;
import picocli.CommandLine.Option;

/**
 * Which relay a client command talks to.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
final class ServerOption {
    @Option(
            names = "--server",
            paramLabel = "URL",
            defaultValue = "http://127.0.0.1:7071",
            description = "the relay's HTTP address (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private URI server;

    RelayHttp http() {
        return new RelayHttp(server);
    }

    /** The host alone, for the relay's other port. */
    String host() {
        return http().host();
    }
}
