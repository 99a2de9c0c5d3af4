package io.tabletrelay.harness.bench;

import io.tabletrelay.harness.bench.report.MachineLoad;
import io.tabletrelay.harness.bench.report.Profile;
import io.tabletrelay.harness.bench.report.Report;
import io.tabletrelay.harness.bench.report.ReportJson;
import io.tabletrelay.harness.bench.report.Tables;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code relay bench}: measures the relay beside what it is made of, and prints the ratios.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(
        name = "bench",
        description = "Measures a relay in a process of its own beside a plain WebSocket server, its own edge without a"
                + " store, and the storage library alone. Takes eight to twelve minutes and 2 GiB of disk; the machine should"
                + " have nothing else to do.")
final class BenchCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "SCENARIO",
            arity = "0..*",
            description = "what to measure: ${COMPLETION-CANDIDATES} (default: all)")
    private List<Scenario> scenarios = new ArrayList<>();

    @Option(names = "--quick", description = "fewer and shorter rounds, for a first look")
    private boolean quick;

    @Option(names = "--json", paramLabel = "FILE", description = "write all rounds there; - is standard output")
    private @Nullable String json;

    @Option(
            names = "--jfr",
            paramLabel = "FILE",
            description = "record the relay's process there, and print its profile")
    private @Nullable Path recording;

    @Option(names = "--data", description = "folder for what is stored meanwhile (default: the temporary folder)")
    private @Nullable Path data;

    @Option(
            names = "--progress",
            negatable = true,
            description = "show a progress bar (default: if standard error is a terminal, as the launcher sees it)")
    private boolean progress;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path folder = data == null
                ? Files.createTempDirectory("relay-bench-")
                : Files.createTempDirectory(Files.createDirectories(data), "relay-bench-");
        Thread cleanUp = new Thread(() -> delete(folder), "bench-clean-up");
        Runtime.getRuntime().addShutdownHook(cleanUp);
        try {
            measure(folder);
        } finally {
            Runtime.getRuntime().removeShutdownHook(cleanUp);
            delete(folder);
        }
        return 0;
    }

    private void measure(Path folder) throws IOException, InterruptedException {
        BenchPlan plan = quick ? BenchPlan.QUICK : BenchPlan.FULL;
        checkFolderOf("--json", json == null || json.equals("-") ? null : Path.of(json));
        checkFolderOf("--jfr", recording);
        Map<String, Object> surroundings = surroundings(plan);
        Set<Scenario> wanted = wanted();
        MachineLoad before = MachineLoad.now();
        Report report;
        ProgressBar bar = progressBar(wanted, plan);
        try (Bench bench = new Bench(plan, folder, recording, bar == null ? () -> {} : bar::step)) {
            for (Scenario scenario : wanted) {
                scenario.measurement().run(bench);
            }
            report = bench.report();
        } finally {
            if (bar != null) {
                bar.close();
            }
        }
        surroundings.put("othersTookPercent", Math.round(MachineLoad.now().othersPercentSince(before)));
        print(report, surroundings);
    }

    /** Before all the measuring, not after it. */
    private void checkFolderOf(String option, @Nullable Path file) {
        Path folder = file == null ? null : file.toAbsolutePath().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            throw new ParameterException(
                    spec.commandLine(), "no such folder: " + option + "=" + file + "; make it before");
        }
    }

    private Set<Scenario> wanted() {
        Set<Scenario> wanted = scenarios.isEmpty() ? EnumSet.allOf(Scenario.class) : EnumSet.copyOf(scenarios);
        if (recording != null && EnumSet.of(Scenario.IDLE, Scenario.SCALE).containsAll(wanted)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "nothing to record: --jfr=" + recording + "; idle and scale are not recorded, name another");
        }
        return wanted;
    }

    /** JSON on standard output stands there alone. */
    private void print(Report report, Map<String, ?> surroundings) throws IOException {
        boolean jsonAlone = "-".equals(json);
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter text = jsonAlone ? spec.commandLine().getErr() : out;
        text.println(surroundings + "\n");
        if (recording != null) {
            Profile.of(recording).print(text);
        }
        Tables.print(report, text);
        text.flush();
        if (jsonAlone) {
            out.println(ReportJson.text(report, surroundings));
        } else if (json != null) {
            Files.writeString(Path.of(json), ReportJson.text(report, surroundings) + "\n");
        }
    }

    private static Map<String, Object> surroundings(BenchPlan plan) {
        Map<String, Object> known = new LinkedHashMap<>();
        known.put("java", Runtime.version().toString());
        known.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        known.put("cores", Runtime.getRuntime().availableProcessors());
        known.put("rounds", plan.rounds());
        known.put("eventBytes", plan.eventBytes());
        known.put("windowEvents", plan.windowEvents());
        return known;
    }

    private @Nullable ProgressBar progressBar(Set<Scenario> wanted, BenchPlan plan) {
        if (!progress) {
            return null;
        }
        int rounds = wanted.stream()
                .mapToInt(scenario -> scenario.measurement().rounds(plan))
                .sum();
        return new ProgressBarBuilder()
                .setTaskName("rounds")
                .setInitialMax(rounds)
                .setUpdateIntervalMillis(100)
                .build();
    }

    private static void delete(Path folder) {
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : paths.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            System.err.println("relay: bench folder could not be removed: path=" + folder);
        }
    }
}
