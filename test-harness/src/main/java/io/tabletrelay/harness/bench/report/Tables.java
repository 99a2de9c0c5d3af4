package io.tabletrelay.harness.bench.report;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A report as text: a table for each scenario, and the aims. */
public final class Tables {
    private Tables() {}

    /** Prints the medians, and in brackets the smallest and the largest round. */
    public static void print(Report report, PrintWriter out) {
        List<String> scenarios = report.figures().keySet().stream()
                .map(Report.Key::scenario)
                .distinct()
                .toList();
        for (String scenario : scenarios) {
            printTable(figures(report, scenario), out);
        }
        List<List<String>> aims = new ArrayList<>();
        aims.add(List.of("scenario", "aim", "measured", "met"));
        for (Report.Aim aim : report.aims()) {
            aims.add(List.of(aim.scenario(), aim.aim(), "%.2f".formatted(aim.measured()), met(aim.met())));
        }
        printTable(aims, out);
    }

    private static List<List<String>> figures(Report report, String scenario) {
        List<Report.Key> keys = report.figures().keySet().stream()
                .filter(key -> key.scenario().equals(scenario))
                .toList();
        List<String> units = keys.stream().map(Report.Key::unit).distinct().toList();
        List<List<String>> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(units);
        head.add(0, scenario);
        rows.add(head);
        for (String variant : keys.stream().map(Report.Key::variant).distinct().toList()) {
            List<String> row = new ArrayList<>(List.of(variant));
            for (String unit : units) {
                row.add(cell(report.figures().get(new Report.Key(scenario, variant, unit))));
            }
            rows.add(row);
        }
        return rows;
    }

    private static String cell(@Nullable List<Double> rounds) {
        if (rounds == null) {
            return "";
        }
        String median = number(Report.median(rounds));
        return rounds.size() == 1
                ? median
                : median + " (" + number(Collections.min(rounds)) + " … " + number(Collections.max(rounds)) + ")";
    }

    private static String number(double value) {
        String format = Math.abs(value) >= 100 ? "%,.0f" : "%.2f";
        return String.format(Locale.ROOT, format, value);
    }

    private static String met(@Nullable Boolean met) {
        return met == null ? "-" : met ? "yes" : "no";
    }

    /** The first row is the head; the first column is aligned left, the others right. */
    static void printTable(List<List<String>> rows, PrintWriter out) {
        int columns = rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                String padding = " ".repeat(widths[i] - row.get(i).length());
                line.append(i == 0 ? row.get(i) + padding : "  " + padding + row.get(i));
            }
            out.println(line.toString().stripTrailing());
        }
        out.println();
    }
}
