package io.tabletrelay.core;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.RelayException;
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
    private static final long DONE = -1;
    private static final int MOST_TIMES_BACK = 5;

    @Mixin
    private final ServerOption server = new ServerOption();

    @Option(names = "--pipe", required = true, description = "the pipe; created if it is not there")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private PipeName pipe;

    @Option(names = "--type", required = true, description = "what the file is: csv, json (one a line), bytes …")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private String type;

    @Option(
            names = "--option",
            paramLabel = "KEY=VALUE",
            description = "told to the type's serializer; repeatable. For csv give types=…: without it each request's"
                    + " types are inferred anew, so that a column can change its type in the middle of a file")
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
    private long countedRequests;
    private long wentBackBehind = -1;
    private int timesWentBack;
    private long firstId;
    private long lastId;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (rowsPerRequest < 1) {
            throw new IllegalArgumentException("rows=" + rowsPerRequest + " must be 1 or more");
        }
        if (retrySeconds < 0) {
            throw new IllegalArgumentException("retry-for=" + retrySeconds + " must be 0 or more");
        }
        if (name != null) {
            checkName(name);
        }
        PublishCommand.existing(file);
        PrintWriter err = spec.commandLine().getErr();
        Retry retry = new Retry(
                Duration.ofSeconds(retrySeconds), reason -> err.println("relay: " + reason + " (trying again)"));
        RelayHttp http = server.http();
        String producer = name != null ? name : ImportFile.fingerprint(file, type, rowsPerRequest, options);
        long startNanos = System.nanoTime();
        long alreadyStored = reach(retry, () -> http.lastSequence(pipe.value(), producer));
        Sender sender = request -> reach(
                retry,
                () -> http.publish(
                        pipe.value(), type, options, request.body(), new ProducerSequence(producer, requests)));
        try (ProgressBar bar = progressBar(Files.size(file))) {
            long goOnBehind = alreadyStored;
            while (goOnBehind != DONE) {
                try (ImportFile source = ImportFile.open(file, type, rowsPerRequest)) {
                    goOnBehind = send(source, bar, goOnBehind, sender);
                }
            }
        }
        report(System.nanoTime() - startNanos);
        if (type.equals("csv") && !options.containsKey("types") && requests > 1) {
            err.println("relay: each request's column types were inferred by itself: requests=" + requests
                    + "; give --option types=… to have the same in all");
        }
        return 0;
    }

    private static void checkName(String name) {
        try {
            var unused = new ProducerSequence(name, 1);
        } catch (RelayException bad) {
            throw new IllegalArgumentException(bad.reason(), bad);
        }
    }

    /** Returns {@link #DONE}, or the sequence behind which the relay wants the file once more. */
    private long send(ImportFile source, @Nullable ProgressBar bar, long alreadyStored, Sender sender)
            throws IOException, InterruptedException {
        requests = 0;
        for (ImportFile.Request request = source.next(); request != null; request = source.next()) {
            requests++;
            if (requests <= alreadyStored) {
                skippedRows += isCounted() ? 0 : request.rows();
            } else {
                try {
                    stored(request, sender.send(request));
                } catch (RefusedException refused) {
                    if (!canGoBack(refused)) {
                        throw stopped(request, refused);
                    }
                    return refused.lastSequence();
                }
            }
            countedRequests = Math.max(countedRequests, requests);
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
        return DONE;
    }

    /** The rows of a request that is sent once more are counted already. */
    private boolean isCounted() {
        return requests <= countedRequests;
    }

    /**
     * A relay forgets a request of which its serializer made nothing when it starts again; the request is sent once more
     * then. Going back to the same place again and again is given up.
     */
    private boolean canGoBack(RefusedException refused) {
        long last = refused.lastSequence();
        if (refused.code() != ErrorCode.OUT_OF_SEQUENCE || last < 0 || last >= requests - 1) {
            return false;
        }
        timesWentBack = last > wentBackBehind ? 1 : timesWentBack + 1;
        wentBackBehind = Math.max(wentBackBehind, last);
        return timesWentBack <= MOST_TIMES_BACK;
    }

    private void stored(ImportFile.Request request, RelayHttp.Stored stored) {
        rows += isCounted() ? 0 : request.rows();
        if (stored.lastId() > 0) {
            firstId = firstId == 0 ? stored.firstId() : firstId;
            lastId = stored.lastId();
        }
    }

    private CommandException stopped(ImportFile.Request request, RefusedException refused) {
        String where = refused.line() == RefusedException.NO_LINE ? "" : ", line=" + request.fileLine(refused.line());
        return new CommandException(
                refused.retryable() ? RelayMain.UNREACHABLE : RelayMain.REFUSED,
                "import stopped: file=" + file + where + "; rows before line " + request.firstLine()
                        + " are stored; the relay says: " + refused.reason());
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
