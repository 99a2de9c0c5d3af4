package io.tabletrelay.harness.store;

import static io.tabletrelay.harness.store.StoredRelay.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.tabletrelay.api.ErrorCode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody deletes the files of a running relay. */
class DeletedFolderIT {
    @TempDir
    private Path folder;

    @Test
    void aPipeWhoseFolderIsDeletedUnderneathSaysSoAndAllOthersGoOn() throws Exception {
        Path data = folder.resolve("data");
        try (StoredRelay relay = StoredRelay.start(data)) {
            relay.publish("orders", 1, 100);
            relay.publish("other", 1, 100);

            Command.run("rm", "-r", data.resolve("pipes").resolve("orders").toString());

            await("it is noticed").atMost(PATIENCE).until(() -> {
                publishQuietly(relay);
                return relay.status("orders").path("state").asText().equals("FAILED");
            });
            assertThat(relay.refusal("orders", 10).code()).isEqualTo(ErrorCode.PIPE_FAILED);
            assertThat(relay.said("segment file was deleted or replaced: pipe=orders"))
                    .isNotEmpty();
            await("what to do is said")
                    .atMost(PATIENCE)
                    .until(() -> relay.status("orders").path("reason").asText().contains("pipe.json is gone"));
            relay.consume("other", 1, 1);
            assertThat(relay.publish("other", 2, 100)).isEqualTo(2);
        }
    }

    private static void publishQuietly(StoredRelay relay) throws Exception {
        try {
            relay.publish("orders", 2, 100);
        } catch (io.tabletrelay.core.client.RefusedException refused) {
            assertThat(refused.code()).isEqualTo(ErrorCode.PIPE_FAILED);
        }
    }
}
