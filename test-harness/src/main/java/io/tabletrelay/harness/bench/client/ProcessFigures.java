package io.tabletrelay.harness.bench.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process holds, as Linux counts it.
 *
 * <p>Threading: immutable.
 *
 * @param handles open files and sockets
 * @param mappings mapped pieces of memory
 * @param residentMib memory that is there
 */
public record ProcessFigures(long handles, long mappings, double residentMib) {
    private static final String RESIDENT = "VmRSS:";

    public static ProcessFigures of(long pid) throws IOException {
        Path process = Path.of("/proc", String.valueOf(pid));
        double resident = 0;
        for (String line : Files.readAllLines(process.resolve("status"))) {
            if (line.startsWith(RESIDENT)) {
                resident = Long.parseLong(line.replaceAll("\\D", "")) / 1024.0;
            }
        }
        try (Stream<Path> handles = Files.list(process.resolve("fd"));
                Stream<String> mappings = Files.lines(process.resolve("maps"))) {
            return new ProcessFigures(handles.count(), mappings.count(), resident);
        }
    }
}
