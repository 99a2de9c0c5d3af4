package io.tabletrelay.core.http;

import com.sun.management.UnixOperatingSystemMXBean;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.HttpConfig;
import java.lang.management.ManagementFactory;
import java.net.BindException;
import java.time.Duration;
import java.util.EnumSet;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http.UriCompliance.Violation;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server: listens, hands requests to the router, and stops.
 *
 * <p>Threading: created, started and closed by the main thread; requests run on its own threads, none of which waits for
 * a pipe.
 */
public final class HttpEdge implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(HttpEdge.class);
    private static final int MAX_THREADS = 16;
    private static final int MAX_CONNECTIONS = 2_000;
    private static final int OPEN_FILES_SHARE = 8;
    private static final int MAX_HEADER_BYTES = 16 << 10;
    private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(30);
    /** A connection on which nothing is asked does not hold up a stop. */
    private static final Duration SHUTDOWN_IDLE_TIMEOUT = Duration.ofMillis(100);

    private final HttpConfig config;
    private final Server server;
    private final ServerConnector connector;

    public HttpEdge(HttpConfig config, RelayView relay) {
        this(config, relay, IDLE_TIMEOUT);
    }

    /**
     * @param idleTimeout how long a client may keep the server waiting; the client may wait for as long as it likes
     */
    HttpEdge(HttpConfig config, RelayView relay, Duration idleTimeout) {
        this.config = config;
        QueuedThreadPool threads = new QueuedThreadPool(MAX_THREADS, 4);
        threads.setName("relay-http");
        threads.setDaemon(true);
        this.server = new Server(threads);
        this.connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(configuration()));
        connector.setHost(config.host());
        connector.setPort(config.port());
        connector.setIdleTimeout(idleTimeout.toMillis());
        connector.setShutdownIdleTimeout(SHUTDOWN_IDLE_TIMEOUT.toMillis());
        server.addConnector(connector);
        server.addBean(new NetworkConnectionLimit(maxConnections(openFilesLimit()), connector));
        server.setErrorHandler(new ErrorAnswers(MAX_HEADER_BYTES));
        server.setHandler(new GracefulHandler(new Router(relay, config.maxRequestBytes())));
    }

    /** Throws {@link RelayException} with {@link ErrorCode#CANNOT_START} if it cannot listen. */
    public void start() {
        try {
            server.start();
        } catch (Exception e) {
            stopNow();
            throw new RelayException(ErrorCode.CANNOT_START, whyNot(e), e);
        }
    }

    /** The port it listens on. */
    public int port() {
        return connector.getLocalPort();
    }

    /** Takes no new requests, lets the running ones end for so long, then cuts them off. */
    public void close(Duration grace) {
        server.setStopTimeout(grace.toMillis());
        stopNow();
    }

    /** Cuts off what is running. */
    @Override
    public void close() {
        stopNow();
    }

    private void stopNow() {
        try {
            server.stop();
        } catch (Exception e) {
            log.warn("http server did not stop cleanly: error={}", e.toString());
        }
    }

    private String whyNot(Exception failure) {
        String address = config.host() + ":" + config.port();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BindException) {
                return "cannot listen for http: address=" + address + ", error=" + cause.getMessage()
                        + "; stop what uses the port or choose another with --http-port";
            }
        }
        return "cannot listen for http: address=" + address + ", error=" + failure;
    }

    /** An eighth of the open files at most: the others are for consumers, pipes and the JVM itself. */
    static int maxConnections(long openFilesLimit) {
        int fitting = (int) Math.max(1, Math.min(MAX_CONNECTIONS, openFilesLimit / OPEN_FILES_SHARE));
        if (fitting < MAX_CONNECTIONS) {
            log.warn(
                    "fewer http connections are taken than usual: usual={}, taken={}, openFilesLimit={}; raise the limit of"
                            + " open files (ulimit -n)",
                    MAX_CONNECTIONS,
                    fitting,
                    openFilesLimit);
        }
        return fitting;
    }

    private static long openFilesLimit() {
        long limit = ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? unix.getMaxFileDescriptorCount()
                : -1;
        return limit < 0 ? Long.MAX_VALUE : limit;
    }

    private static HttpConfiguration configuration() {
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setSendXPoweredBy(false);
        http.setRequestHeaderSize(MAX_HEADER_BYTES);
        // A pipe's name may have any printable character. The router reads the path as it came, undecoded and not
        // normalized, so that an encoded slash or two encoded dots are just part of a name.
        http.setUriCompliance(new UriCompliance(
                "relay",
                EnumSet.of(
                        Violation.AMBIGUOUS_PATH_SEGMENT,
                        Violation.AMBIGUOUS_PATH_SEPARATOR,
                        Violation.AMBIGUOUS_PATH_PARAMETER,
                        Violation.AMBIGUOUS_PATH_ENCODING,
                        Violation.AMBIGUOUS_EMPTY_SEGMENT,
                        Violation.SUSPICIOUS_PATH_CHARACTERS)));
        return http;
    }
}
