package io.tabletrelay.harness.edge;

import static io.tabletrelay.harness.edge.EdgeProcess.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Events of every size a frame can have, many of them in one write: each kind of client sees one event a frame. */
class FrameSizesIT {
    private static final String PIPE = "sizes";
    /** Around each change of a frame's header, with and without the eight bytes of the id before the payload. */
    private static final List<Integer> SIZES = List.of(
            0, 1, 117, 118, 125, 126, 1, 0, 65_527, 65_528, 65_535, 65_536, 1, 1 << 20, 0, 125, 126, 4 << 20, 1, 0);

    private static final int SMALL_EVENTS = 500;

    @TempDir
    private Path data;

    @ParameterizedTest
    @EnumSource(ClientKind.class)
    void payloadsOfEverySizeArriveByteByByteAsOneEventAFrame(ClientKind kind) throws Exception {
        if (kind == ClientKind.NODE_WS) {
            NodeClients.assumeInstalled();
        }
        long seed = System.nanoTime(); // BR-122, BR-127
        Random random = new Random(seed);
        try (EdgeProcess relay = EdgeProcess.start(data, "window=1000")) {
            Map<Long, String> published = new TreeMap<>();
            for (int size : SIZES) {
                publish(relay, random, size, published);
            }
            for (int i = 0; i < SMALL_EVENTS; i++) {
                publish(relay, random, random.nextInt(300), published);
            }
            Consumed consumer = Consumed.acking(PIPE);

            try (AutoCloseable clients = kind.connect(relay.wsPort(), List.of(consumer))) {
                await().atMost(PATIENCE).until(() -> consumer.digests().size() == published.size());
                relay.awaitStatus(PIPE, "floor", published.size());

                assertThat(consumer.digests()).as("seed %d", seed).isEqualTo(published);
                assertThat(clients).isNotNull();
            }
        }
    }

    private static void publish(EdgeProcess relay, Random random, int size, Map<Long, String> published)
            throws Exception {
        byte[] payload = new byte[size];
        random.nextBytes(payload);
        relay.publish(PIPE, ByteBuffer.wrap(payload));
        published.put(published.size() + 1L, Consumed.digest(ByteBuffer.wrap(payload)));
    }
}
