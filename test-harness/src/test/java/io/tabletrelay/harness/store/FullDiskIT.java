package io.tabletrelay.harness.store;

import static io.tabletrelay.harness.store.StoredRelay.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.client.RefusedException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** A relay whose file system has no space, no inodes, or turns read-only: mvn -Pstorage. */
@EnabledIfSystemProperty(named = "storage.full", matches = "true", disabledReason = "runs with -Pstorage")
class FullDiskIT {
    private static final Path HOME = Path.of("target", "full-disk").toAbsolutePath();
    private static final int EVENT_BYTES = 60_000;
    /** Of which a quarter is a segment. */
    private static final String[] OPTIONS = {"--disk-reserve=6MiB", "--max-bytes=64MiB"};

    private LoopFileSystem disk;
    private Path data;

    FullDiskIT() throws IOException {
        disk = LoopFileSystem.make(HOME, "errors=remount-ro", 96);
        data = disk.mountPoint().resolve("data");
    }

    @BeforeAll
    static void canMount() throws IOException {
        LoopFileSystem.assumeMountable(HOME);
    }

    @BeforeEach
    void mount() throws IOException {
        disk.mount();
    }

    @AfterEach
    void unmount() {
        disk.close();
    }

    @Test
    void aDiskThatIsFullToTheLastBlockRefusesAppendsAndNothingElse() throws Exception { // BR-101, BR-102, BR-106
        try (StoredRelay relay = StoredRelay.start(data, OPTIONS)) {
            long orders = relay.publishUntilRefused("orders", 0, EVENT_BYTES);
            assertThat(relay.refusal("orders", EVENT_BYTES).code()).isEqualTo(ErrorCode.PIPE_FULL);
            long other = relay.publishUntilRefused("other", 0, EVENT_BYTES);
            RefusedException full = relay.refusal("other", EVENT_BYTES);
            assertThat(full.code()).isEqualTo(ErrorCode.STORAGE_FULL);
            assertThat(full).hasMessageContaining("usableBytes=").hasMessageContaining("disk-reserve=6291456");

            Path stranger = fill();
            assertThat(relay.refusal("other", EVENT_BYTES).code()).isEqualTo(ErrorCode.STORAGE_FULL);
            assertThat(relay.refusal("a new one", 10).code()).isEqualTo(ErrorCode.STORAGE_FULL);
            relay.consume("other", 1, 20);
            relay.consume("orders", 1, orders / 2);

            // whole segments of it are settled now, and what they took is there for all
            awaitAccepted(relay, "other", other + 1);
            Path again = fill();
            other = relay.publishUntilRefused("other", other + 1, EVENT_BYTES);
            relay.consume("other", 21, other / 2);
            relay.consume("orders", orders / 2 + 1, orders - 10);
            Files.delete(stranger);
            Files.delete(again);

            awaitAccepted(relay, "orders", orders + 1);
            awaitAccepted(relay, "other", other + 1);
            relay.consume("orders", orders - 9, orders + 1);
            relay.consume("other", other / 2 + 1, other + 1);
            await("all deleted")
                    .atMost(PATIENCE)
                    .until(() -> relay.status("orders").path("diskBytes").asLong() < 17 << 20);
            assertThat(relay.status("orders").path("voidIds").asLong(-1)).isZero();
            assertThat(relay.said("OutOfMemory")).isEmpty();
            assertThat(relay.said("InternalError")).isEmpty();
        }
    }

    @Test
    void aRelayStartsOnAFullDiskAndDelivers() throws Exception { // BR-009, BR-103
        long last;
        try (StoredRelay relay = StoredRelay.start(data, OPTIONS)) {
            last = relay.publishUntilRefused("orders", 0, EVENT_BYTES);
            relay.consume("orders", 1, 5);
            fill();
            relay.process().kill();
        }
        Path stranger;
        try (StoredRelay relay = StoredRelay.start(data, OPTIONS)) {
            stranger = fill();
            relay.consume("orders", 6, 30);
            assertThat(relay.refusal("new", 10).code()).isEqualTo(ErrorCode.STORAGE_FULL);
            relay.process().kill();
        }
        try (StoredRelay relay = StoredRelay.start(data, OPTIONS)) {
            relay.consume("orders", 31, last - 1);
            Files.delete(stranger);
            awaitAccepted(relay, "orders", last + 1);
            relay.consume("orders", last, last + 1);
        }
    }

    @Test
    void aDiskWithoutInodesRefusesAppendsAndNothingElse() throws Exception {
        try (StoredRelay relay = StoredRelay.start(data, "--max-bytes=4MiB", "--disk-reserve=1MiB")) {
            relay.publish("orders", 1, EVENT_BYTES);
            relay.publish("other", 1, EVENT_BYTES);
            Path files = useUpInodes();

            long last = relay.publishUntilRefused("orders", 1, EVENT_BYTES);

            RefusedException full = relay.refusal("orders", EVENT_BYTES);
            assertThat(full.code()).isEqualTo(ErrorCode.STORAGE_FULL);
            assertThat(full).hasMessageContaining("No space left on device");
            assertThat(relay.refusal("new", 10).code()).isEqualTo(ErrorCode.STORAGE_FULL);
            relay.consume("other", 1, 1);
            relay.consume("orders", 1, last);
            Command.run("rm", "-rf", files.toString());
            awaitAccepted(relay, "orders", last + 1);
            awaitAccepted(relay, "other", 2);
            awaitAccepted(relay, "new", 1); // it could not be made, and is tried again after a wait
            assertThat(relay.status("new").path("lastId").asLong()).isEqualTo(1);
        }
    }

    @Test
    void aDiskThatTurnsReadOnlyLosesNothingThatWasConfirmed() throws Exception { // BR-012
        long last;
        try (StoredRelay relay = StoredRelay.start(data, OPTIONS)) {
            for (last = 1; last <= 50; last++) {
                relay.publish("orders", last, EVENT_BYTES);
            }
            relay.consume("orders", 1, 10);
            Command.run("sync", "-f", disk.mountPoint().toString());
            Files.writeString(trigger(), "a fault");

            last = relay.publishUntilRefused("orders", last - 1, EVENT_BYTES);

            RefusedException refusal = relay.refusal("orders", EVENT_BYTES);
            assertThat(refusal.code()).isIn(ErrorCode.STORAGE_FULL, ErrorCode.PIPE_FAILED);
            assertThat(refusal).hasMessageContaining("Read-only file system");
            assertThat(relay.process().isAlive()).isTrue();
            assertThat(relay.process().terminate(PATIENCE)).isZero();
        }
        mountRepaired();

        try (StoredRelay relay = StoredRelay.start(data, OPTIONS)) {
            assertThat(relay.floor("orders")).isEqualTo(10);
            relay.consume("orders", 11, 50);
            assertThat(relay.publish("orders", last + 1, 10)).isGreaterThan(50);
        }
    }

    /** A copy of it: whoever else still has the broken one mounted, in a namespace of his own, keeps it as it is. */
    private void mountRepaired() throws IOException {
        Path image = HOME.resolve("image.ext4");
        Path broken = HOME.resolve("broken.ext4");
        Command.run("umount", disk.mountPoint().toString());
        Command.run("mv", image.toString(), broken.toString());
        Command.run("cp", "--sparse=always", broken.toString(), image.toString());
        Command.run("sh", "-c", "e2fsck -fy " + image + " || test $? -lt 4");
        disk.mount();
        Files.delete(broken);
    }

    private static void awaitAccepted(StoredRelay relay, String pipe, long number) {
        await(pipe + " takes events again")
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(100))
                .until(() -> {
                    try {
                        return relay.publish(pipe, number, EVENT_BYTES) > 0;
                    } catch (RefusedException full) {
                        return false;
                    }
                });
    }

    /** A stranger's file that takes all there is. */
    private Path fill() throws IOException {
        Path file = Files.createTempFile(disk.mountPoint(), "stranger", "");
        for (int bytes : new int[] {1 << 20, 4 << 10, 1}) {
            byte[] chunk = new byte[bytes];
            try (OutputStream out = Files.newOutputStream(file, java.nio.file.StandardOpenOption.APPEND)) {
                while (true) {
                    out.write(chunk);
                }
            } catch (IOException full) {
                assertThat(full).hasMessageContaining("No space left");
            }
        }
        return file;
    }

    private Path useUpInodes() throws IOException {
        Path folder = Files.createDirectory(disk.mountPoint().resolve("many"));
        try {
            for (int i = 0; ; i++) {
                Files.createFile(folder.resolve("f" + i));
            }
        } catch (IOException full) {
            assertThat(full).hasMessageContaining("No space left");
            return folder;
        }
    }

    private Path trigger() throws IOException {
        String device = Command.run("losetup", "-j", HOME.resolve("image.ext4").toString());
        String name = device.substring("/dev/".length(), device.indexOf(':'));
        Path trigger = Path.of("/sys/fs/ext4", name, "trigger_fs_error");
        org.junit.jupiter.api.Assumptions.assumeTrue(Files.exists(trigger), "this kernel has no " + trigger);
        return trigger;
    }
}
