package io.tabletrelay.core.config;

/**
 * The HTTP side.
 *
 * @param host address to listen on
 * @param port 0 picks a free one
 * @param maxRequestBytes largest body of one request
 */
public record HttpConfig(String host, int port, int maxRequestBytes) {
    public static final HttpConfig DEFAULT = new HttpConfig("127.0.0.1", 7071, 16 << 20);

    public HttpConfig {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("http-port=" + port + " must be from 0 to 65535");
        }
        if (maxRequestBytes < 1) {
            throw new IllegalArgumentException("max-request-bytes=" + maxRequestBytes + " must be 1 or more");
        }
    }
}
