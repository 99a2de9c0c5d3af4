package io.tabletrelay.harness;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.Relay;
import io.tabletrelay.core.config.HttpConfig;
import io.tabletrelay.core.config.RelayConfig;
import io.tabletrelay.core.config.ServerConfig;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A program that embeds a relay and publishes without end. It is made to be killed: what it publishes, and what is
 * confirmed, it prints at once, so that the confirmations outlive it in its parent.
 *
 * <p>Arguments: data folder, pipe, a prefix that makes this run's payloads unique.
 *
 * <p>Threading: publishes on the main thread; confirmations are printed by the relay's threads.
 */
public final class EmbeddedRelay {
    private static final int UNCONFIRMED_EVENTS = 16;
    /** The full stop tells a whole line from one that was cut off. */
    private static final Pattern LINE = Pattern.compile("(publishing|confirmed) (\\d+) (\\S+) \\.");

    private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);
    private final Semaphore unconfirmed = new Semaphore(UNCONFIRMED_EVENTS);

    private EmbeddedRelay() {}

    /** Starts the relay, prints the ready line, and publishes until the process is killed. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        new EmbeddedRelay().run(Path.of(arguments[0]), new PipeName(arguments[1]), arguments[2]);
    }

    /** Records a line that such a process printed; other lines are ignored. */
    public static void record(String line, History history) {
        Matcher known = LINE.matcher(line);
        if (known.matches()) {
            ByteBuffer payload = payload(known.group(3));
            if (known.group(1).equals("publishing")) {
                history.publishing(payload);
            } else {
                history.confirmed(Long.parseLong(known.group(2)), payload);
            }
        }
    }

    private static ByteBuffer payload(String key) {
        String pad = Padding.of(Long.parseLong(key.substring(key.lastIndexOf('-') + 1)));
        return ByteBuffer.wrap(
                ("{\"embedded\":\"" + key + "\",\"pad\":\"" + pad + "\"}").getBytes(StandardCharsets.UTF_8));
    }

    private void run(Path data, PipeName pipe, String prefix) throws IOException, InterruptedException {
        Relay relay = Relay.start(config(data));
        print("ready ws=127.0.0.1:" + relay.wsPort() + " http=127.0.0.1:" + relay.httpPort());
        for (long n = 1; ; n++) {
            String key = prefix + "-" + n;
            unconfirmed.acquire();
            print("publishing 0 " + key + " .");
            relay.publisher()
                    .publish(pipe, "json", payload(key))
                    .whenComplete((appended, e) -> settled(key, appended, e));
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private void settled(String key, @Nullable Appended appended, @Nullable Throwable e) {
        print(appended != null ? "confirmed " + appended.firstId() + " " + key + " ." : "refused " + key + ": " + e);
        unconfirmed.release();
    }

    /** One write for the whole line: what is in the pipe stays there when this process is killed. */
    private void print(String line) {
        try {
            out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IllegalStateException("the parent process is gone", e);
        }
    }

    private static RelayConfig config(Path data) {
        RelayConfig defaults = RelayConfig.defaults(data);
        ServerConfig server = defaults.server();
        return new RelayConfig(
                data,
                defaults.drainTimeout(),
                new ServerConfig(
                        server.host(),
                        0,
                        server.maxConnections(),
                        server.handshakeTimeout(),
                        server.heartbeat(),
                        server.heartbeatTimeout(),
                        server.maxUnsentBytes(),
                        server.slowConsumerTimeout()),
                new HttpConfig(defaults.http().host(), 0, defaults.http().maxRequestBytes()),
                defaults.store(),
                defaults.delivery());
    }
}
