package io.tabletrelay.core.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Nonsense, seeded, against a running edge; {@code -Dfuzz.count=} says how much of it. */
class Dialect2FuzzTest {
    private static final int COUNT = Integer.getInteger("fuzz.count", 5_000);
    private static final long SEED = Long.getLong("fuzz.seed", 4711);
    private static final int PER_CONNECTION = 200;

    private static final String[] LINES = {
        "BIND:p?window=1",
        "BIND:aBIND:b",
        "BINDoops",
        "BIND:",
        "BIND:%ff",
        "BIND:p?start=2026-01-01T00:00:00Z",
        "ACK:1,2-9",
        "ACK:9223372036854775808",
        "ACK:-1",
        "ACKTO:5",
        "NACK:1:10:why",
        "TERM:1:x",
        "HOLD:3",
        "WINDOW:0",
        "UNBIND",
        "PUBLISH:p?type=bytes&producer=a",
        "PUBLISH:p?type=bytes&headers=1",
        "FINISH",
        "AUTH:x",
        "ERROR:7",
        "READY",
        "\u0000\uFFFF",
        "é:1"
    };

    private final Random random = new Random(SEED);

    @Test
    void nonsenseHurtsNobodyElse() throws IOException {
        EdgeRig rig = EdgeRig.start();
        try (RawClient good = RawClient.openDialect2(rig.port())) {
            good.line("BIND:good");
            good.expect(RawClient.TEXT);
            good.line("PUBLISH:good?type=bytes");
            good.expect(RawClient.TEXT);
            int connections = (COUNT + PER_CONNECTION - 1) / PER_CONNECTION;
            for (int i = 1; i <= connections; i++) {
                try (RawClient client = RawClient.openDialect2(rig.port())) {
                    nonsense(client);
                }
                good.line("ACK:" + i);
                good.frame(RawClient.BINARY, ByteBuffer.allocate(8).putLong(i).array());
                good.expectText("STORED:" + i);
            }
            assertThat(rig.counts.malformedLines.get()).as("seed %s", SEED).isGreaterThan(connections);
            assertThat(rig.pipe("good").link().acks).hasSize(connections);
        } finally {
            rig.close();
        }
        assertThat(rig.logged)
                .as("seed %s", SEED)
                .noneMatch(line -> line.startsWith("ERROR") || line.contains("Exception"));
    }

    private void nonsense(RawClient client) throws IOException {
        for (int i = 0; i < PER_CONNECTION; i++) {
            try {
                client.bytes(frame());
            } catch (IOException e) {
                return; // it was closed for what it had sent
            }
        }
        client.endOutput();
        client.readToTheEnd();
    }

    private byte[] frame() {
        return switch (random.nextInt(10)) {
            case 0 -> RawClient.encode(0x82, bytes(random.nextInt(40)), true);
            case 1 ->
                RawClient.encode(
                        0x82, ByteBuffer.allocate(20).putLong(random.nextInt(5)).array(), true);
            case 2 -> random.nextInt(20) == 0 ? bytes(1 + random.nextInt(30)) : RawClient.encode(0x8A, bytes(9), true);
            case 3 -> fragments();
            case 4, 5, 6 -> text(LINES[random.nextInt(LINES.length)]);
            default -> text(mutated(LINES[random.nextInt(LINES.length)]));
        };
    }

    private byte[] fragments() {
        byte[] first = RawClient.encode(0x01, "ACK:1".getBytes(StandardCharsets.UTF_8), true);
        byte[] last = RawClient.encode(0x80, ",2".getBytes(StandardCharsets.UTF_8), true);
        return ByteBuffer.allocate(first.length + last.length)
                .put(first)
                .put(last)
                .array();
    }

    private static byte[] text(String line) {
        return RawClient.encode(0x81, line.getBytes(StandardCharsets.UTF_8), true);
    }

    private String mutated(String line) {
        StringBuilder changed = new StringBuilder(line);
        for (int i = random.nextInt(3); i >= 0; i--) {
            int at = random.nextInt(changed.length() + 1);
            String odd = ":,-?&=%0123456789 ABé\u0000";
            if (random.nextBoolean() || at == changed.length()) {
                changed.insert(at, odd.charAt(random.nextInt(odd.length())));
            } else {
                changed.deleteCharAt(at);
            }
        }
        return changed.toString();
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
