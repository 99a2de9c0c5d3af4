package io.tabletrelay.core.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.CommitConfig;
import io.tabletrelay.core.config.FullConfig;
import io.tabletrelay.core.config.OnDamage;
import io.tabletrelay.core.config.RetentionConfig;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredSubscriptionsTest {
    private static final InstantSource CLOCK = () -> Instant.EPOCH;
    private static final StoreConfig AT_DISK = new StoreConfig(
            1 << 20,
            1 << 18,
            0,
            0,
            0,
            Durability.DISK,
            CommitConfig.DEFAULT,
            FullConfig.DEFAULT,
            OnDamage.SKIP,
            RetentionConfig.ACKED);
    private static final String LONG = "a name so long that it is cut on disk ".repeat(5);

    @TempDir
    private Path folder;

    private DataDirectory directory;
    private PipeFolder pipe;

    @BeforeEach
    void open() {
        directory = DataDirectory.open(folder.resolve("data"), CLOCK, () -> "boot");
        pipe = directory.pipe(new PipeName("p"));
    }

    @AfterEach
    void close() {
        directory.close();
    }

    @Test
    void aPipeIsBornWithoutASubscriptionAndKeepsTheRingOfDefaultForItself() {
        with(store -> {
            store.settled().raiseAppendedUpTo(7);

            assertThat(store.subscriptions().existing()).isEmpty();
        });

        assertThat(pipe.settledFile("default")).exists();
        assertThat(names()).isEmpty();
        with(store -> assertThat(store.settled().appendedUpTo()).isEqualTo(7));
    }

    @Test
    void aDefaultOfBeforeThereWereRecordsExistsIfItsRingShowsUse() {
        with(store -> store.settled().raiseDeliveredUpTo(1));

        assertThat(names()).containsExactly("default");
    }

    @ParameterizedTest
    @ValueSource(strings = {"default", "analytics", "Ä/..\\ b", "long"})
    void oneThatWasMadeIsThereAfterAKill(String given) {
        String name = given.equals("long") ? LONG.substring(0, 190) : given;
        PipeStore killed = store();

        killed.subscriptions().create(name, 5, 77, 3);

        with(store -> {
            SubscriptionFiles found = only(store);
            assertThat(found.name()).isEqualTo(name);
            assertThat(found.start()).isEqualTo(5);
            assertThat(found.createdMillis()).isEqualTo(77);
            assertThat(found.lettersBefore()).isEqualTo(3);
            assertThat(found.settled().floor()).isEqualTo(4);
            assertThat(found.settled().deliveredUpTo()).isEqualTo(4);
        });
    }

    @Test
    void oneThatIsHalfBornIsClearedAway() throws IOException {
        with(store -> store.subscriptions().create("a", 5, 0, 0));
        Files.move(pipe.subscriptionFile("a"), pipe.subscriptionFile("a").resolveSibling("a.json.tmp"));

        assertThat(names()).isEmpty();

        assertThat(files()).containsOnlyKeys("default.settled");
    }

    @Test
    void aDefaultThatIsHalfBornWithALaterStartDoesNotExist() throws IOException {
        with(store -> store.subscriptions().create("default", 5, 0, 0));
        Map<String, byte[]> born = files();
        SubscriptionRecord live = SubscriptionRecord.read(pipe.subscriptionFile("default"));

        live.in(SubscriptionRecord.State.GONE).write(pipe.subscriptionFile("default"));

        assertThat(names()).isEmpty();
        restore(born);
        assertThat(names()).containsExactly("default");
    }

    @ParameterizedTest
    @ValueSource(strings = {"default", "a"})
    void aResetThatWasKilledAtAnyStepIsWholeOrNotAtAll(String name) throws IOException {
        with(store -> {
            SubscriptionFiles made = store.subscriptions().create(name, 1, 0, 0);
            made.settled().raiseAppendedUpTo(40);
            made.settled().raiseDeliveredUpTo(40);
            for (long id = 1; id <= 30; id++) {
                made.settled().settle(id);
            }
            made.attempts().record(31, 1, 0, "nack");
        });
        Map<String, byte[]> before = files();
        with(store -> store.subscriptions().reset(name, 3, 0));
        Map<String, byte[]> after = files();
        byte[] begun = recordIn(name, SubscriptionRecord.State.RESET);

        for (List<String> alreadyNew : List.of(
                List.<String>of(), List.of(name + ".attempts"), List.of(name + ".attempts", name + ".settled"))) {
            Map<String, byte[]> killed = new HashMap<>(before);
            killed.put(name + ".json", begun);
            alreadyNew.forEach(file -> {
                killed.remove(file);
                if (after.containsKey(file)) {
                    killed.put(file, after.get(file));
                }
            });
            restore(killed);

            with(store -> {
                SubscriptionFiles found = only(store);
                assertThat(found.settled().floor()).as("%s", alreadyNew).isEqualTo(2);
                assertThat(found.settled().deliveredUpTo()).isEqualTo(2);
                assertThat(found.settled().isSettled(5)).isFalse();
                assertThat(found.attempts().size()).isZero();
                assertThat(found.start()).isEqualTo(3);
                if (name.equals("default")) {
                    assertThat(found.settled().appendedUpTo()).isEqualTo(40);
                }
            });
            assertThat(SubscriptionRecord.read(pipe.subscriptionFile(name)).state())
                    .isEqualTo(SubscriptionRecord.State.LIVE);
        }
        restore(before);
        with(store -> assertThat(only(store).settled().floor()).isEqualTo(30));
    }

    @ParameterizedTest
    @ValueSource(strings = {"default", "a"})
    void aDeletionThatWasKilledAtAnyStepIsGoneOn(String name) throws IOException {
        with(store -> {
            SubscriptionFiles made = store.subscriptions().create(name, 1, 0, 0);
            made.settled().raiseAppendedUpTo(9);
            made.settled().raiseDeliveredUpTo(9);
            made.settled().settle(1);
            made.attempts().record(2, 1, 0, "nack");
        });
        Map<String, byte[]> killed = files();
        killed.put(name + ".json", recordIn(name, SubscriptionRecord.State.GONE));

        for (String left : List.of("nothing", name + ".settled", name + ".attempts")) {
            killed.remove(left);
            restore(killed);

            assertThat(names()).as("without %s", left).isEmpty();
            assertThat(files()).doesNotContainKey(name + ".attempts");
        }
        if (name.equals("a")) {
            assertThat(files()).containsOnlyKeys("default.settled");
        }
    }

    @Test
    void aDeletedDefaultDoesNotComeBackByItselfAndCanBeMadeAnew() {
        with(store -> {
            store.subscriptions().create("default", 1, 0, 0);
            store.settled().raiseAppendedUpTo(20);
            store.settled().raiseDeliveredUpTo(20);
            store.settled().settle(1);

            store.subscriptions().delete("default", 1);
        });

        assertThat(names()).isEmpty();
        with(store -> {
            assertThat(store.settled().appendedUpTo()).isEqualTo(20);
            assertThat(store.settled().floor()).isZero();
            store.subscriptions().create("default", 4, 0, 0);
        });
        with(store -> {
            assertThat(only(store).settled().floor()).isEqualTo(3);
            assertThat(only(store).settled().appendedUpTo()).isEqualTo(20);
        });
    }

    @Test
    void whatIsSettledForAllBeforeADeletionDoesNotMakeADefault() {
        with(store -> {
            store.subscriptions().create("a", 1, 0, 0);

            store.subscriptions().settleBelow(10);
        });

        assertThat(names()).containsExactly("a");
        with(store -> {
            assertThat(store.settled().settledBelow()).isEqualTo(10);
            assertThat(only(store).settled().floor()).isEqualTo(9);
        });
    }

    @Test
    void damageOfOneSubscriptionConcernsThatOneAlone() throws IOException {
        with(store -> {
            for (String name : List.of("a", "b", LONG.substring(0, 190))) {
                SubscriptionFiles made = store.subscriptions().create(name, 1, 5, 0);
                made.settled().raiseDeliveredUpTo(8);
                made.settled().settle(1);
            }
        });
        damage(pipe.settledFile("a"));
        damage(pipe.subscriptionFile("b"));

        with(store -> {
            assertThat(store.subscriptions().existing())
                    .extracting(SubscriptionFiles::name)
                    .containsExactlyInAnyOrder("a", "b", LONG.substring(0, 190));
            assertThat(find(store, "a").settled().floor()).isZero();
            assertThat(find(store, "b").settled().floor()).isEqualTo(1);
            assertThat(find(store, LONG.substring(0, 190)).settled().floor()).isEqualTo(1);
        });
    }

    @Test
    void oneWhoseRecordIsGoneIsTakenForWhatItsRingShows() throws IOException {
        with(store -> store.subscriptions().create("a", 1, 5, 0).settled().raiseDeliveredUpTo(8));
        Files.delete(pipe.subscriptionFile("a"));

        assertThat(names()).containsExactly("a");
        assertThat(pipe.subscriptionFile("a")).exists();
    }

    @Test
    void oneThatCannotBeWrittenIsNotThere() throws IOException {
        Path inTheWay = pipe.subscriptionFile("a").resolveSibling("a.json.tmp");
        with(store -> {
            assertThatThrownBy(() -> {
                        Files.createDirectories(inTheWay.resolve("x"));
                        store.subscriptions().create("a", 1, 0, 0);
                    })
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FAILED));
            assertThat(store.subscriptions().existing()).isEmpty();
        });
        Files.delete(inTheWay.resolve("x"));
        Files.delete(inTheWay);

        assertThat(names()).isEmpty();
    }

    private PipeStore store() {
        return PipeStore.open(pipe, AT_DISK, 1 << 20, CLOCK);
    }

    private void with(Consumer<PipeStore> work) {
        try (PipeStore store = store()) {
            work.accept(store);
        }
    }

    private List<String> names() {
        try (PipeStore store = store()) {
            return store.subscriptions().existing().stream()
                    .map(SubscriptionFiles::name)
                    .toList();
        }
    }

    private static SubscriptionFiles only(PipeStore store) {
        assertThat(store.subscriptions().existing()).hasSize(1);
        return store.subscriptions().existing().get(0);
    }

    private static SubscriptionFiles find(PipeStore store, String name) {
        return store.subscriptions().existing().stream()
                .filter(files -> files.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private byte[] recordIn(String name, SubscriptionRecord.State state) throws IOException {
        Path file = pipe.subscriptionFile(name);
        SubscriptionRecord.read(file).in(state).write(file);
        return Files.readAllBytes(file);
    }

    private static void damage(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[10] ^= 4;
        Files.write(file, bytes);
    }

    private Map<String, byte[]> files() throws IOException {
        Map<String, byte[]> files = new HashMap<>();
        try (Stream<Path> all = Files.list(pipe.subscriptionsFolder())) {
            for (Path file : all.toList()) {
                files.put(String.valueOf(file.getFileName()), Files.readAllBytes(file));
            }
        }
        return files;
    }

    private void restore(Map<String, byte[]> content) throws IOException {
        for (String name : files().keySet()) {
            Files.delete(pipe.subscriptionsFolder().resolve(name));
        }
        for (Map.Entry<String, byte[]> file : content.entrySet()) {
            Files.write(pipe.subscriptionsFolder().resolve(file.getKey()), file.getValue());
        }
    }
}
