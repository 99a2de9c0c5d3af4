package io.tabletrelay.harness.faults;

import static io.tabletrelay.harness.faults.TestRelay.window;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.tablet.TabletCodec;
import io.tabletrelay.api.tablet.TabletFamily;
import io.tabletrelay.api.tablet.TabletType;
import io.tabletrelay.core.client.RefusedException;
import io.tabletrelay.harness.RelayProcess;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.iotdb.tsfile.utils.Binary;
import org.apache.iotdb.tsfile.write.record.Tablet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From the command line to the library of a consumer with IoTDB 1.x: a pipe of tablets of family v1. */
class TabletFormatTest {
    private static final String PIPE = "plant";
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final io.tabletrelay.api.tablet.Tablet TABLET = io.tabletrelay.api.tablet.Tablet.builder(
                    "root.sg.d1")
            .column("temperature", TabletType.DOUBLE)
            .row(257, 21.5)
            .build();

    @TempDir
    private Path folder;

    @Test
    void aFileThatIsImportedIntoAPipeOfV1IsReadByTheLibraryOfIotdb1() throws Exception {
        Path csv = Files.writeString(
                folder.resolve("rows.csv"), "time,temperature,ok,note\n1000,21.5,true,grün\n2000,,false,\n");
        try (TestRelay relay = TestRelay.start(folder.resolve("data"), window(10))) {
            assertThat(command(relay, "pipe", "create", PIPE, "--tablet-format=v1"))
                    .containsExactly("created: pipe=plant, settings={tablet-format=v1}");
            assertThat(command(relay, "import", "--pipe=" + PIPE, "--type=csv", csv.toString()))
                    .hasSize(1)
                    .allMatch(line -> line.startsWith("imported: pipe=plant, rows=2, requests=1, ids=1-1,"));

            try (BoundClient client = relay.bind(PIPE)) {
                assertThat(readByTheLibrary(client.event().event()))
                        .containsExactly("1000 [21.5, true, grün]", "2000 [null, false, null]");
                client.reset();
            }
            relay.awaitUnbound(PIPE);
            assertThat(command(relay, "consume", "--ws-port=" + relay.wsPort(), "--pipe=" + PIPE, "--count=1"))
                    .containsExactly(
                            "{\"device\":\"plant\",\"time\":\"1970-01-01T00:00:01Z\",\"temperature\":21.5,\"ok\":true,"
                                    + "\"note\":\"grün\"}",
                            "{\"device\":\"plant\",\"time\":\"1970-01-01T00:00:02Z\",\"temperature\":null,\"ok\":false,"
                                    + "\"note\":null}");
        }
    }

    @Test
    void tabletsOfTheOtherFamilyAreRefusedAfterARestartToo() throws Exception {
        ByteBuffer v1 = new TabletCodec(TabletFamily.V1).encode(TABLET);
        ByteBuffer v2 = new TabletCodec(TabletFamily.V2).encode(TABLET);
        try (TestRelay relay = TestRelay.start(folder.resolve("data"), window(10))) {
            assertThat(relay.http().createPipe(PIPE, Map.of("tablet-format", "v1")))
                    .isTrue();
        }
        try (TestRelay relay = TestRelay.start(folder.resolve("data"), window(10))) {
            assertThat(relay.http().createPipe(PIPE, Map.of("tablet-format", "v1")))
                    .isFalse();

            assertThat(refusal(relay, PIPE, Map.of(), v2))
                    .contains("expected a tablet of family v1")
                    .contains("publish it to a pipe with tablet-format=v2");
            assertThat(refusal(relay, PIPE, Map.of("tablet-format", "v2"), v2)).contains("another setting");
            assertThat(refusal(relay, "other", Map.of(), v1)).contains("publish it to a pipe with tablet-format=v1");
            assertThat(refusal(relay, "other", Map.of("tablet-format", "v1"), v1))
                    .contains("another setting");

            relay.http().publish(PIPE, "iotdb-tablet", Map.of(), v1, null);
            try (BoundClient client = relay.bind(PIPE)) {
                assertThat(client.event().event()).isEqualTo(v1);
            }
            assertThat(relay.status(PIPE).path("lastId").asLong()).isEqualTo(1);
            assertThat(relay.status(PIPE).path("settings").path("tablet-format").asText())
                    .isEqualTo("v1");
        }
    }

    private static String refusal(TestRelay relay, String pipe, Map<String, String> options, ByteBuffer tablet) {
        RefusedException refusal = catchThrowableOfType(
                RefusedException.class, () -> relay.http().publish(pipe, "iotdb-tablet", options, tablet, null));
        assertThat(refusal.code()).isEqualTo(ErrorCode.BAD_EVENT);
        return refusal.reason();
    }

    private static List<String> readByTheLibrary(ByteBuffer payload) {
        Tablet tablet = Tablet.deserialize(payload);
        assertThat(payload.hasRemaining()).isFalse();
        double[] temperatures = (double[]) tablet.values[0];
        boolean[] flags = (boolean[]) tablet.values[1];
        Binary[] notes = (Binary[]) tablet.values[2];
        List<String> rows = new ArrayList<>();
        for (int row = 0; row < tablet.rowSize; row++) {
            List<@Nullable Object> cells = new ArrayList<>();
            cells.add(isNull(tablet, row, 0) ? null : temperatures[row]);
            cells.add(isNull(tablet, row, 1) ? null : flags[row]);
            cells.add(isNull(tablet, row, 2) ? null : new String(notes[row].getValues(), UTF_8));
            rows.add(tablet.timestamps[row] + " " + cells);
        }
        return rows;
    }

    private static boolean isNull(Tablet tablet, int row, int column) {
        return tablet.bitMaps[column] != null && tablet.bitMaps[column].isMarked(row);
    }

    /** Runs a command against the relay and returns what it printed. */
    private static List<String> command(TestRelay relay, String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--server=" + relay.httpAddress());
        List<String> lines = new CopyOnWriteArrayList<>();
        try (RelayProcess process = RelayProcess.start(RelayProcess.RELAY_MAIN, all, lines::add)) {
            assertThat(process.exitCode(LONG)).as(process.output().toString()).isZero();
        }
        return lines;
    }
}
