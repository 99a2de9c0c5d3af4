package io.tabletrelay.harness.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * Figures of each round, and how they compare with what was aimed at.
 *
 * <p>Threading: confined to one thread.
 */
public final class Report {
    /** What a figure is of: a column of a variant's line in a scenario's table. */
    public record Key(String scenario, String variant, String unit) {}

    /**
     * One comparison.
     *
     * @param met null where nothing was aimed at
     */
    public record Aim(
            String scenario,
            String aim,
            double measured,
            @Nullable Boolean met) {}

    private final Map<Key, List<Double>> rounds = new LinkedHashMap<>();
    private final List<Aim> aims = new ArrayList<>();

    /** One more round's figure. */
    public void add(String scenario, String variant, String unit, double value) {
        rounds.computeIfAbsent(new Key(scenario, variant, unit), key -> new ArrayList<>())
                .add(value);
    }

    /** All figures, in the order in which they first came. */
    public Map<Key, List<Double>> figures() {
        return rounds;
    }

    public List<Aim> aims() {
        return aims;
    }

    /** The median over the rounds. */
    public double median(String scenario, String variant, String unit) {
        return median(values(scenario, variant, unit));
    }

    /** The median of the ratios of one variant to another, each of one round. */
    public double ratio(String scenario, String unit, String variant, String to) {
        List<Double> above = values(scenario, variant, unit);
        List<Double> below = values(scenario, to, unit);
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(above.size(), below.size()); i++) {
            ratios.add(above.get(i) / below.get(i));
        }
        return median(ratios);
    }

    public void aimAtLeast(String scenario, String what, double measured, double least) {
        aims.add(new Aim(scenario, "%s >= %.1f".formatted(what, least), measured, measured >= least));
    }

    public void aimAtMost(String scenario, String what, double measured, double most) {
        aims.add(new Aim(scenario, "%s <= %.1f".formatted(what, most), measured, measured <= most));
    }

    /** A comparison without an aim. */
    public void compare(String scenario, String what, double measured) {
        aims.add(new Aim(scenario, what, measured, null));
    }

    private List<Double> values(String scenario, String variant, String unit) {
        return rounds.getOrDefault(new Key(scenario, variant, unit), List.of());
    }

    static double median(List<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        int middle = sorted.length / 2;
        return DoubleStream.of(sorted)
                .skip(sorted.length % 2 == 0 ? Math.max(0, middle - 1) : middle)
                .limit(sorted.length % 2 == 0 ? 2 : 1)
                .average()
                .orElse(Double.NaN);
    }
}
