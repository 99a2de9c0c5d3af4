package io.tabletrelay.harness.bench.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A report as JSON, every round in it. */
public final class ReportJson {
    private ReportJson() {}

    /**
     * One object, indented.
     *
     * @param surroundings what the figures depend on: machine, load, plan
     */
    public static String text(Report report, Map<String, ?> surroundings) throws JsonProcessingException {
        List<Map<String, ?>> figures = new ArrayList<>();
        report.figures().forEach((key, rounds) -> {
            Map<String, Object> figure = new LinkedHashMap<>();
            figure.put("scenario", key.scenario());
            figure.put("variant", key.variant());
            figure.put("unit", key.unit());
            figure.put("median", Report.median(rounds));
            figure.put("rounds", rounds);
            figures.add(figure);
        });
        Map<String, Object> all = new LinkedHashMap<>(surroundings);
        all.put("figures", figures);
        all.put("aims", report.aims());
        return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(all);
    }
}
