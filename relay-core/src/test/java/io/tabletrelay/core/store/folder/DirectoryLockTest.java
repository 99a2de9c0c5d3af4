package io.tabletrelay.core.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.ChildJvm;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryLockTest {
    @TempDir
    private Path data;

    @Test
    void aSecondOpenInTheSameProcessIsRefusedAndTakesNothingAway() throws IOException {
        try (DataDirectory first = open(data)) {
            Path link = Files.createSymbolicLink(data.resolveSibling(data.getFileName() + "-link"), data);

            for (Path path : new Path[] {data, link, data.resolve("pipes").resolve("..")}) {
                assertThatThrownBy(() -> open(path))
                        .isInstanceOfSatisfying(
                                StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANNOT_START))
                        .hasMessage("data directory is in use: path=" + data.toRealPath() + ", pid="
                                + ProcessHandle.current().pid() + "; is another relay running?");
            }

            Files.delete(link);
            assertThat(answerOfAChild()).startsWith("refused");
            assertThat(first.pipes()).isEmpty();
        }
    }

    @Test
    void aClosedDirectoryCanBeOpenedAgain() throws IOException {
        open(data).close();

        open(data).close();

        assertThat(answerOfAChild()).isEqualTo("held");
    }

    @Test
    void anotherProcessIsRefusedWithTheHoldersPidUntilTheHolderIsKilled() throws IOException {
        try (ChildJvm holder = ChildJvm.start(Holding.class, data.toString())) {
            assertThat(holder.readLine()).isEqualTo("held");

            assertThatThrownBy(() -> open(data))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("pid=" + holder.pid() + ";");
            assertThat(answerOfAChild()).contains("pid=" + holder.pid() + ";");

            holder.kill();
            open(data).close();
        }
    }

    /** Whoever deletes the lock lets a second relay in: the first one gives no more ids as soon as it looks. */
    @Test
    void noIdIsGivenOnceTheLockIsGoneOrAnotherFile() throws IOException {
        Path file = data.resolve("relay.lock");
        EventGroup group = new EventGroup(List.of(new Payload("b", Map.of(), ByteBuffer.allocate(1))), null, 0);
        try (DataDirectory directory = open(data)) {
            PipeFolder pipe = directory.pipe(new PipeName("p"));
            PipeStore store = PipeStore.open(pipe, StoreConfig.DEFAULT, 1 << 20, InstantSource.system());
            store.log().makeRoomFor(group);
            store.log().append(group);
            store.log().checkFiles();
            long mark = pipe.idMark();

            Files.delete(file);
            assertThat(answerOfAChild()).isEqualTo("held with pipes");

            assertLost(() -> pipe.raiseIdMark(mark + 1));
            assertLost(() -> store.log().makeRoomFor(group));
            assertThat(store.log().hasRoomFor(group)).isFalse();
            assertThatThrownBy(() -> store.log().append(group)).hasMessageContaining("log takes no appends");
            assertThat(PipeFolder.read(pipe.path()).idMark()).isEqualTo(mark);
            store.close();
            assertLost(() -> PipeStore.open(pipe, StoreConfig.DEFAULT, 1 << 20, InstantSource.system()));
            Files.delete(file);
            assertLost(() -> directory.pipe(new PipeName("new")));
            assertThat(data.resolve("pipes").resolve("new")).doesNotExist();
        }
    }

    private static void assertLost(ThrowableAssert.ThrowingCallable use) {
        assertThatThrownBy(use)
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PIPE_FAILED))
                .hasMessageContaining("lock file was deleted or replaced: path=")
                .hasMessageEndingWith("another relay may use the directory, stop both and start one");
    }

    private String answerOfAChild() throws IOException {
        try (ChildJvm child = ChildJvm.start(Holding.class, data.toString())) {
            return child.readLine();
        }
    }

    private static DataDirectory open(Path path) {
        return DataDirectory.open(path, InstantSource.system(), BootId::current);
    }

    /** A process that takes the directory and keeps it until it is killed. */
    static final class Holding {
        private Holding() {}

        public static void main(String[] args) throws IOException {
            try (DataDirectory directory = open(Path.of(args[0]))) {
                System.out.println(directory.pipes().isEmpty() ? "held" : "held with pipes");
                while (System.in.read() >= 0) {}
            } catch (StoreException e) {
                System.out.println("refused: " + e.reason());
            }
        }
    }
}
