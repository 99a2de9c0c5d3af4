package io.tabletrelay.harness.bench.report;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/**
 * Where a recorded process spent its time: CPU by thread, and samples of Java code by thread and package, and by method.
 *
 * <p>Samples see Java code only: time in the kernel shows as a thread's system time.
 *
 * <p>Threading: confined to one thread.
 */
public final class Profile {
    private static final int MOST_METHODS = 25;

    private final Map<String, double[]> loadByThread = new TreeMap<>();
    private final Map<String, Integer> samplesByPackage = new HashMap<>();
    private final Map<String, Integer> samplesByMethod = new HashMap<>();
    private int samples;

    private Profile() {}

    /** Reads a recording that has ended. */
    public static Profile of(Path recording) throws IOException {
        Profile profile = new Profile();
        try (RecordingFile file = new RecordingFile(recording)) {
            while (file.hasMoreEvents()) {
                profile.take(file.readEvent());
            }
        }
        return profile;
    }

    private void take(RecordedEvent event) {
        switch (event.getEventType().getName()) {
            case "jdk.ThreadCPULoad" -> {
                double[] load =
                        loadByThread.computeIfAbsent(kind(event.getThread("eventThread")), name -> new double[2]);
                load[0] += event.getFloat("user");
                load[1] += event.getFloat("system");
            }
            case "jdk.ExecutionSample" -> takeSample(kind(event.getThread("sampledThread")), event.getStackTrace());
            default -> {}
        }
    }

    private void takeSample(String thread, @Nullable RecordedStackTrace stack) {
        if (stack == null || stack.getFrames().isEmpty()) {
            return;
        }
        samples++;
        samplesByMethod.merge(method(stack.getFrames().get(0)), 1, Integer::sum);
        String owner = stack.getFrames().stream()
                .map(frame -> packageOf(frame.getMethod().getType().getName()))
                .filter(name -> !name.startsWith("java.") && !name.startsWith("sun.") && !name.startsWith("jdk."))
                .findFirst()
                .orElse("the JDK alone");
        samplesByPackage.merge(thread + ": " + owner, 1, Integer::sum);
    }

    /** Threads of a pool count together. The WebSocket library names its selector only after the recorder has seen it. */
    private static String kind(@Nullable RecordedThread thread) {
        String name = thread == null || thread.getJavaName() == null ? "the JVM's own" : thread.getJavaName();
        String kind = name.replaceAll("[-#]?\\d+", "");
        return kind.equals("Thread") ? "WebSocketSelector" : kind;
    }

    private static String method(RecordedFrame frame) {
        return frame.getMethod().getType().getName() + "." + frame.getMethod().getName();
    }

    private static String packageOf(String type) {
        return type.substring(0, Math.max(0, type.lastIndexOf('.')));
    }

    public void print(PrintWriter out) {
        double all = loadByThread.values().stream()
                .mapToDouble(load -> load[0] + load[1])
                .sum();
        List<List<String>> threads = new ArrayList<>();
        threads.add(List.of("thread (share of CPU)", "user", "system"));
        loadByThread.entrySet().stream()
                .sorted((a, b) -> Double.compare(b.getValue()[0] + b.getValue()[1], a.getValue()[0] + a.getValue()[1]))
                .filter(thread -> thread.getValue()[0] + thread.getValue()[1] >= all / 200)
                .forEach(thread -> threads.add(List.of(
                        thread.getKey(), percent(thread.getValue()[0], all), percent(thread.getValue()[1], all))));
        Tables.printTable(threads, out);
        printShares("thread: innermost package outside the JDK", samplesByPackage, out);
        printShares("innermost method", samplesByMethod, out);
    }

    private void printShares(String title, Map<String, Integer> counts, PrintWriter out) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of(title, "share of " + samples + " samples"));
        counts.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(MOST_METHODS)
                .forEach(entry -> rows.add(List.of(entry.getKey(), percent(entry.getValue(), samples))));
        Tables.printTable(rows, out);
    }

    private static String percent(double part, double all) {
        return String.format(Locale.ROOT, "%.1f %%", all == 0 ? 0 : 100 * part / all);
    }
}
