package io.tabletrelay.core;

import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.core.client.ImportFile;
import io.tabletrelay.core.client.RefusedException;
import io.tabletrelay.core.client.RelayHttp;
import io.tabletrelay.core.client.Retry;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code relay import}: a file in many requests, each numbered, so that neither a killed import nor a killed relay loses
 * or repeats a row: run it again and it goes on behind the last request that was stored.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(
        name = "import",
        description =
                "Publishes a file's rows to a pipe. Run it again after any interruption: it goes on where it was.")
final class ImportCommand implements Callable<Integer> {
    @Mixin
    private final ServerOption server = new ServerOption();

    @Option(names = "--pipe", required = true, description = "the pipe; created if it is not there")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private String pipe;

    @Option(names = "--type", required = true, description = "what the file is: csv, json (one a line), bytes …")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private String type;

    @Option(names = "--option", paramLabel = "KEY=VALUE", description = "told to the type's serializer; repeatable")
    private final Map<String, String> options = new LinkedHashMap<>();

    @Option(names = "--rows", defaultValue = "1000", description = "rows per request (default: ${DEFAULT-VALUE})")
    private int rowsPerRequest;

    @Option(
            names = "--name",
            description = "what the relay remembers the import by (default: a digest of the file and of how it is"
                    + " imported); another name imports the file once more")
    private @Nullable String name;

    @Option(
            names = "--retry-for",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "how long to try again when the relay cannot be reached or is full"
                    + " (default: ${DEFAULT-VALUE})")
    private int retrySeconds;

    @Option(
            names = "--progress",
            negatable = true,
            description = "show a progress bar (default: if standard error is a terminal, as the launcher sees it)")
    private boolean progress;

    @Parameters(paramLabel = "FILE", description = "the file to import")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private Path file;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    private long rows;
    private long requests;
    private long skippedRows;
    private long firstId;
    private long lastId;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (rowsPerRequest < 1) {
            throw new IllegalArgumentException("rows=" + rowsPerRequest + " must be 1 or more");
        }
        PublishCommand.existing(file);
        PrintWriter err = spec.commandLine().getErr();
        Retry retry = new Retry(
                Duration.ofSeconds(retrySeconds), reason -> err.println("relay: " + reason + " (trying again)"));
        RelayHttp http = server.http();
        String producer = name != null ? name : ImportFile.fingerprint(file, type, rowsPerRequest, options);
        long startNanos = System.nanoTime();
        long alreadyStored = reach(retry, () -> http.lastSequence(pipe, producer));
        try (ImportFile source = ImportFile.open(file, type, rowsPerRequest);
                ProgressBar bar = progressBar(Files.size(file))) {
            send(
                    source,
                    bar,
                    alreadyStored,
                    request -> reach(
                            retry,
                            () -> http.publish(
                                    pipe, type, options, request.body(), new ProducerSequence(producer, requests))));
        }
        report(System.nanoTime() - startNanos);
        return 0;
    }

    private void send(ImportFile source, @Nullable ProgressBar bar, long alreadyStored, Sender sender)
            throws IOException, InterruptedException {
        for (ImportFile.Request request = source.next(); request != null; request = source.next()) {
            requests++;
            if (requests <= alreadyStored) {
                skippedRows += request.rows();
            } else {
                stored(request, publish(request, sender));
            }
            if (bar != null) {
                bar.stepTo(source.readBytes());
                bar.setExtraMessage(rows + skippedRows + " rows");
            }
        }
        if (requests < alreadyStored) {
            throw new CommandException(
                    RelayMain.REFUSED,
                    "the relay has more of this import than the file: pipe=" + pipe + ", requests=" + requests
                            + ", stored=" + alreadyStored + "; give another --name");
        }
    }

    private void stored(ImportFile.Request request, RelayHttp.Stored stored) {
        rows += request.rows();
        if (stored.lastId() > 0) {
            firstId = firstId == 0 ? stored.firstId() : firstId;
            lastId = stored.lastId();
        }
    }

    private RelayHttp.Stored publish(ImportFile.Request request, Sender sender)
            throws IOException, InterruptedException {
        try {
            return sender.send(request);
        } catch (RefusedException refused) {
            String where =
                    refused.line() == RefusedException.NO_LINE ? "" : ", line=" + request.fileLine(refused.line());
            throw new CommandException(
                    refused.retryable() ? RelayMain.UNREACHABLE : RelayMain.REFUSED,
                    "import stopped: file=" + file + where + "; rows before line " + request.firstLine()
                            + " are stored; the relay says: " + refused.reason());
        }
    }

    private static <T> T reach(Retry retry, Retry.Attempt<T> attempt) throws InterruptedException {
        try {
            return retry.call(attempt);
        } catch (IOException e) {
            throw new CommandException(RelayMain.UNREACHABLE, e.getMessage() + "; run the same import again to go on");
        }
    }

    private void report(long tookNanos) {
        double seconds = tookNanos / 1e9;
        spec.commandLine()
                .getOut()
                .println(String.format(
                        Locale.ROOT,
                        "imported: pipe=%s, rows=%d, requests=%d, ids=%s, rows stored before=%d, seconds=%.1f, rows/s=%.0f",
                        pipe,
                        rows,
                        requests,
                        lastId == 0 ? "none" : firstId + "-" + lastId,
                        skippedRows,
                        seconds,
                        rows / Math.max(seconds, 0.001)));
    }

    private @Nullable ProgressBar progressBar(long bytes) {
        if (!progress) {
            return null;
        }
        return new ProgressBarBuilder()
                .setTaskName("import")
                .setInitialMax(bytes)
                .setUnit(" KiB", 1024)
                .showSpeed()
                .build();
    }

    @FunctionalInterface
    private interface Sender {
        RelayHttp.Stored send(ImportFile.Request request) throws IOException, InterruptedException;
    }
}
