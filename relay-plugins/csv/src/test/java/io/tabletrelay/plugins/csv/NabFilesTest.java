package io.tabletrelay.plugins.csv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.api.tablet.Tablet;
import io.tabletrelay.api.tablet.TabletCodec;
import io.tabletrelay.api.tablet.TabletColumn;
import io.tabletrelay.api.tablet.TabletFamily;
import io.tabletrelay.api.tablet.TabletType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Sensor data of the Numenta Anomaly Benchmark, where it lies beside the checkout; skipped where it does not. */
class NabFilesTest {
    private final @Nullable Path folder = folder();

    @Test
    void everyRowOfEveryFileArrivesWithItsTimeAndItsValue() throws Exception {
        assumeTrue(folder != null);
        for (Path file : files()) {
            List<String> lines = Files.readAllLines(file);
            CollectedPayloads payloads = new CollectedPayloads();

            new CsvSerializer()
                    .serialize(
                            new SourceEvent(new PipeName("plant"), ByteBuffer.wrap(Files.readAllBytes(file)), Map.of()),
                            payloads);

            int line = 1;
            for (var payload : payloads.all) {
                Tablet tablet = new TabletCodec(TabletFamily.V2).decode(payload.bytes());
                assertThat(tablet.columns()).containsExactly(TabletColumn.field("value", TabletType.DOUBLE));
                for (Tablet.Row row : tablet.rows()) {
                    assertThat(row).as("%s:%d", file, line + 1).isEqualTo(row(lines.get(line)));
                    line++;
                }
            }
            assertThat(line).as("lines of %s", file).isEqualTo(lines.size());
        }
    }

    private static Tablet.Row row(String line) {
        String[] fields = line.split(",", -1);
        LocalDateTime time = LocalDateTime.parse(fields[0].replace(' ', 'T'));
        return new Tablet.Row(time.toInstant(ZoneOffset.UTC).toEpochMilli(), List.of(Double.valueOf(fields[1])));
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".csv")).toList();
        }
    }

    private static @Nullable Path folder() {
        for (Path up = Path.of("").toAbsolutePath(); up != null; up = up.getParent()) {
            Path nab = up.resolve("shared/data/nab");
            if (Files.isDirectory(nab)) {
                return nab;
            }
        }
        return null;
    }
}
