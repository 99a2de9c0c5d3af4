package io.tabletrelay.core;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.client.Dialect1Consumer;
import io.tabletrelay.core.client.PayloadPrinter;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code relay consume}: prints a pipe's events and acks each once it is printed; connects again when the connection is
 * lost, and prints nothing twice that it printed before.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(name = "consume", description = "Prints the events of a pipe and acks each one when it is printed.")
final class ConsumeCommand implements Callable<Integer> {
    /** More than a consumer can have in flight. */
    private static final int REMEMBERED_IDS = 65_536;

    private static final int LARGEST_PORT = 65_535;
    private static final long LONGEST_WAIT_MILLIS = 2_000;

    @Mixin
    private final ServerOption server = new ServerOption();

    @Option(names = "--pipe", required = true, description = "the pipe")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private PipeName pipe;

    @Option(names = "--count", description = "end after so many acked events (default: go on until stopped)")
    private long count = Long.MAX_VALUE;

    @Option(
            names = "--ws-port",
            defaultValue = "7070",
            description = "the relay's WebSocket port, on the host of --server (default: ${DEFAULT-VALUE})")
    private int wsPort;

    @Option(names = "--ws", paramLabel = "URL", description = "the relay's WebSocket address, instead of those two")
    private @Nullable URI ws;

    @Option(
            names = "--retry-for",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "how long to go on without a connection (default: ${DEFAULT-VALUE})")
    private int retrySeconds;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    private final PayloadPrinter printer = new PayloadPrinter();
    private final Set<Long> printedIds = new LinkedHashSet<>();
    private final Set<Long> printedNotAckedIds = new LinkedHashSet<>();
    private long acked;
    private long lastConnectedNanos;
    private long waitMillis;

    @Override
    public Integer call() throws InterruptedException {
        checkRanges();
        URI address = address();
        HttpClient http = HttpClient.newHttpClient();
        PrintWriter err = spec.commandLine().getErr();
        lastConnectedNanos = System.nanoTime();
        boolean done = false;
        while (!done) {
            try (Dialect1Consumer consumer = Dialect1Consumer.connect(http, address, pipe.value())) {
                drain(consumer);
                done = true;
            } catch (IOException lost) {
                if (waitMillis == 0) {
                    err.println("relay: " + lost.getMessage() + " (trying again)");
                }
                pause(lost);
            }
        }
        return 0;
    }

    private void checkRanges() {
        if (count < 1) {
            throw new IllegalArgumentException("count=" + count + " must be 1 or more");
        }
        if (retrySeconds < 0) {
            throw new IllegalArgumentException("retry-for=" + retrySeconds + " must be 0 or more");
        }
        if (wsPort < 1 || wsPort > LARGEST_PORT) {
            throw new IllegalArgumentException("ws-port=" + wsPort + " must be from 1 to " + LARGEST_PORT);
        }
    }

    private URI address() {
        URI address = ws != null ? ws : URI.create("ws://" + server.host() + ":" + wsPort);
        boolean webSocket = "ws".equals(address.getScheme()) || "wss".equals(address.getScheme());
        if (!webSocket || address.getHost() == null || address.getPort() > LARGEST_PORT) {
            throw new IllegalArgumentException(
                    "not a relay's WebSocket address: ws=" + address + "; write it like ws://127.0.0.1:7070");
        }
        return address;
    }

    private void drain(Dialect1Consumer consumer) throws IOException, InterruptedException {
        waitMillis = 0;
        try {
            // acks that were sent on a connection that broke may never have been read
            for (long id : List.copyOf(printedIds)) {
                ack(consumer, id);
            }
            while (acked < count) {
                Dialect1Consumer.Delivery delivery = consumer.next();
                print(delivery);
                ack(consumer, delivery.id());
            }
            consumer.finish();
        } finally {
            lastConnectedNanos = System.nanoTime();
        }
    }

    private void ack(Dialect1Consumer consumer, long id) throws IOException, InterruptedException {
        consumer.ack(id);
        acked += printedNotAckedIds.remove(id) ? 1 : 0;
    }

    private void print(Dialect1Consumer.Delivery delivery) {
        PrintWriter out = spec.commandLine().getOut();
        if (printedIds.add(delivery.id())) {
            printedNotAckedIds.add(delivery.id());
            out.println(printer.print(delivery.payload()));
            forgetOldest();
        }
        if (out.checkError()) {
            throw new CommandException(
                    RelayMain.FAILED, "cannot print: standard output is closed or full; the last event is not acked");
        }
    }

    private void forgetOldest() {
        if (printedIds.size() > REMEMBERED_IDS) {
            printedIds.remove(printedIds.iterator().next());
        }
    }

    private void pause(IOException lost) throws InterruptedException {
        if (System.nanoTime() - lastConnectedNanos
                >= Duration.ofSeconds(retrySeconds).toNanos()) {
            throw new CommandException(RelayMain.UNREACHABLE, String.valueOf(lost.getMessage()));
        }
        waitMillis = Math.min(Math.max(50, waitMillis * 2), LONGEST_WAIT_MILLIS);
        Thread.sleep(waitMillis);
    }
}
