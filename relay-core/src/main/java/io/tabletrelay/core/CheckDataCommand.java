package io.tabletrelay.core;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.check.Damage;
import io.tabletrelay.core.store.check.DataCheck;
import io.tabletrelay.core.store.check.DataRepair;
import io.tabletrelay.core.store.check.DataReport;
import io.tabletrelay.core.store.check.PipeReport;
import io.tabletrelay.core.store.folder.StillDirectory;
import io.tabletrelay.core.store.log.LogCheck;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.ToLongFunction;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code relay check-data}: reads a data directory that no relay uses, and says what is in it and what is damaged.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(
        name = "check-data",
        description = "Reads a data directory while no relay uses it, changes nothing in it, and says what is there and"
                + " what is damaged. Exit code 6: there is damage.")
final class CheckDataCommand implements Callable<Integer> {
    private static final int MOST_SHOWN = 20;

    @Option(names = "--pipe", description = "only this pipe")
    private @Nullable PipeName pipe;

    @Option(names = "--json", description = "print all that was found as one JSON object")
    private boolean json;

    @Option(
            names = "--repair",
            paramLabel = "COPY",
            description = "write a repaired copy of the directory there: what can be read, under its ids; DIR itself is"
                    + " never changed")
    private @Nullable Path copy;

    @Option(names = "--dry-run", description = "with --repair: only say what it would do")
    private boolean dryRun;

    @Option(
            names = "--max-event-bytes",
            paramLabel = "BYTES",
            description =
                    "the largest event that the relay took, where a program embeds it with another limit (default:"
                            + " ${DEFAULT-VALUE}); with a wrong value sound files look damaged")
    private int maxEventBytes = StoreConfig.DEFAULT.maxEventBytes();

    @Option(
            names = "--progress",
            negatable = true,
            description = "show a progress bar (default: if standard error is a terminal, as the launcher sees it)")
    private boolean progress;

    @Parameters(paramLabel = "DIR", description = "the data directory")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private Path directory;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (dryRun && copy == null) {
            throw new IllegalArgumentException("dry-run is for --repair; without it nothing is ever changed");
        }
        try (StillDirectory still = StillDirectory.open(directory)) {
            DataCheck check = new DataCheck(still, sizes(), pipe == null ? null : pipe.value());
            if (pipe != null && check.pipes().isEmpty()) {
                throw new CommandException(
                        RelayMain.FAILED, "there is no such pipe: pipe=" + pipe + ", directory=" + still.root());
            }
            DataReport report = run(check);
            print(report);
            return copy == null ? exitCode(report) : repair(still, report, copy);
        }
    }

    /** As of the relay that wrote the directory: how long its files are follows from the largest event. */
    private StoreConfig sizes() {
        return new StoreConfig(StoreConfig.DEFAULT.segmentBytes(), maxEventBytes, 0, 0, 0);
    }

    private static int exitCode(DataReport report) {
        return report.isSound() ? 0 : RelayMain.DAMAGED;
    }

    /** The copy is checked as well: its exit code is the one that counts, if no pipe was left out. */
    private int repair(StillDirectory still, DataReport report, Path target) throws IOException {
        List<String> done = new DataRepair(still, report, sizes(), target, dryRun, InstantSource.system()).run();
        PrintWriter out =
                json ? spec.commandLine().getErr() : spec.commandLine().getOut();
        done.forEach(line -> out.println((dryRun ? "would repair: " : "repaired: ") + line));
        if (dryRun) {
            return exitCode(report);
        }
        try (StillDirectory repaired = StillDirectory.open(target)) {
            DataReport after = run(new DataCheck(repaired, sizes(), null));
            out.println("copy: directory=" + target + ", pipes=" + after.pipes().size() + ", events="
                    + sum(after, LogCheck.Result::events) + (after.isSound() ? "; sound" : "; DAMAGED"));
            boolean isWhole = after.pipes().size() == report.pipes().size();
            return isWhole ? exitCode(after) : RelayMain.DAMAGED;
        }
    }

    private DataReport run(DataCheck check) throws IOException {
        try (ProgressBar bar = progressBar(check)) {
            return check.run(bytes -> {
                if (bar != null) {
                    bar.stepBy(bytes);
                }
            });
        }
    }

    private @Nullable ProgressBar progressBar(DataCheck check) throws IOException {
        if (!progress) {
            return null;
        }
        return new ProgressBarBuilder()
                .setTaskName("check-data")
                .setInitialMax(check.segmentBytes())
                .setUnit(" MiB", 1 << 20)
                .showSpeed()
                .build();
    }

    private void print(DataReport report) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(new ObjectMapper().writeValueAsString(report));
            return;
        }
        report.pipes().forEach(each -> print(out, each));
        report.damages().forEach(damage -> out.println(text(damage)));
        long damaged = report.pipes().stream().filter(each -> !each.isSound()).count();
        out.println("checked: directory=" + report.directory() + ", pipes="
                + report.pipes().size() + ", damaged pipes=" + damaged + ", events="
                + sum(report, LogCheck.Result::events) + ", lost="
                + sum(report, LogCheck.Result::lostIds) + ", tombstones="
                + report.tombstones().size() + ", deleted="
                + report.deleted().size() + (report.isSound() ? "; sound" : "; DAMAGED"));
    }

    private static void print(PrintWriter out, PipeReport pipe) {
        out.println("pipe=" + pipe.name() + (pipe.isSound() ? ": sound" : ": DAMAGED, damages=" + pipe.damageCount()));
        print(out, "events", pipe.events());
        PipeReport.Settled settled = pipe.settled();
        if (settled != null) {
            out.println("  settled: floor=" + settled.floor() + ", above it=" + settled.settledAboveFloor()
                    + ", delivered up to=" + settled.deliveredUpTo() + ", unsettled=" + pipe.unsettledEvents()
                    + ", failing=" + pipe.attempts());
        }
        print(out, "dead letters", pipe.deadLetters());
        pipe.damages().stream().limit(MOST_SHOWN).forEach(damage -> out.println("  " + text(damage)));
        if (pipe.damageCount() > MOST_SHOWN) {
            out.println("  and " + (pipe.damageCount() - MOST_SHOWN) + " more damages; --json has up to a thousand");
        }
        pipe.leftovers().forEach(leftover -> out.println("  note: " + leftover));
    }

    private static void print(PrintWriter out, String what, LogCheck.@Nullable Result log) {
        if (log == null) {
            out.println("  " + what + ": cannot be read");
            return;
        }
        out.println("  " + what + ": ids=" + log.firstId() + " to " + log.lastId() + ", events=" + log.events()
                + ", lost=" + log.lostIds() + ", void=" + log.voidIds() + ", segments=" + log.segments() + ", bytes="
                + log.bytes());
    }

    private static String text(Damage damage) {
        String ids = damage.firstId() == null ? "" : ", ids=" + damage.firstId() + " to " + damage.lastId();
        return "damage: file=" + damage.file() + ids + "; " + damage.what();
    }

    private static long sum(DataReport report, ToLongFunction<LogCheck.Result> of) {
        return report.pipes().stream()
                .map(PipeReport::events)
                .filter(Objects::nonNull)
                .mapToLong(of)
                .sum();
    }
}
