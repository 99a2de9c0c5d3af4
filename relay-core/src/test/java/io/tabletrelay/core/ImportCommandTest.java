package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImportCommandTest {
    @TempDir
    private Path folder;

    private FakeHttpRelay relay;

    @BeforeEach
    void startRelay() throws IOException {
        relay = new FakeHttpRelay();
    }

    @AfterEach
    void stopRelay() {
        relay.close();
    }

    @Test
    void sendsTheRowsInNumberedRequestsWithTheHeaderOnEach() throws IOException {
        Path file = write("t,v\n1,a\n2,b\n3,c\n");

        CommandRun run = importCsv(file, "--option", "device=root.a b");

        assertThat(run.exitCode()).isZero();
        assertThat(relay.bodies()).containsExactly("t,v\n1,a\n2,b\n", "t,v\n3,c\n");
        assertThat(relay.queries()).allMatch(query -> query.endsWith("&device=root.a b"));
        assertThat(run.out()).startsWith("imported: pipe=plant, rows=3, requests=2, ids=1-2, rows stored before=0");
    }

    @Test
    void goesOnBehindWhatWasStoredWhenItIsRunAgain() throws IOException {
        Path file = write("t,v\n1,a\n2,b\n3,c\n");
        relay.refuse("3,c");
        importCsv(file);
        relay.refuse("");

        CommandRun again = importCsv(file);

        assertThat(again.exitCode()).isZero();
        assertThat(relay.bodies()).containsExactly("t,v\n1,a\n2,b\n", "t,v\n3,c\n");
        assertThat(again.out()).contains("rows=1, ").contains("rows stored before=2");
    }

    @Test
    void aLostAnswerIsAskedForAgainAndStoresNothingTwice() throws IOException {
        Path file = write("t,v\n1,a\n2,b\n3,c\n");
        relay.loseAnswers(1);

        CommandRun run = importCsv(file);

        assertThat(run.exitCode()).isZero();
        assertThat(relay.bodies()).containsExactly("t,v\n1,a\n2,b\n", "t,v\n3,c\n");
        assertThat(run.err()).contains("trying again");
    }

    @Test
    void goesBackToARequestThatTheRelayNoLongerCounts() throws IOException {
        Path file = write("t,v\n1,a\n2,b\n3,c\n4,d\n5,e\n");
        relay.forget(2, 2);

        CommandRun run = importCsv(file);

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(relay.bodies()).containsExactly("t,v\n1,a\n2,b\n", "t,v\n3,c\n4,d\n", "t,v\n5,e\n");
        assertThat(run.out()).contains("rows=5, requests=3, ids=1-3, rows stored before=0");
    }

    @Test
    void givesUpOnARelayThatNeverCountsARequest() throws IOException {
        relay.forget(2, Integer.MAX_VALUE);

        CommandRun run = importCsv(write("t,v\n1,a\n2,b\n3,c\n4,d\n5,e\n"));

        assertThat(run.exitCode()).isEqualTo(4);
        assertThat(run.err()).contains("the relay says: a gap").hasLineCount(1);
    }

    @Test
    void saysThatTypesAreInferredPerRequestOnlyIfThereAreSeveralAndNoneAreGiven() throws IOException {
        Path file = write("t,v\n1,a\n2,b\n3,c\n");

        assertThat(importCsv(file).err()).contains("--option types=").hasLineCount(1);
        assertThat(importCsv(file, "--option=types=STRING").err()).isEmpty();
        assertThat(importCsv(write("t,v\n1,a\n")).err()).doesNotContain("types=");
    }

    @Test
    void waitsForARelayThatIsBusy() throws IOException {
        relay.beBusy(2);

        CommandRun run = importCsv(write("t,v\n1,a\n"));

        assertThat(run.exitCode()).isZero();
        assertThat(relay.bodies()).hasSize(1);
    }

    @Test
    void aBadRowIsNamedByItsLineInTheFile() throws IOException {
        Path file = write("t,v\n1,a\n2,\"b\n\n\"\nx,c\n");
        relay.refuse("x,c");

        CommandRun run = importCsv(file);

        assertThat(run.exitCode()).isEqualTo(4);
        assertThat(run.err()).contains("line=6").contains("bad").hasLineCount(1);
    }

    @Test
    void aRelayThatCannotBeReachedIsSaidInOneLineAfterTheTimeIsUp() throws IOException {
        Path file = write("t,v\n1,a\n");
        String address = relay.address().toString();
        relay.close();

        CommandRun run = CommandRun.of(
                "import", "--pipe=plant", "--type=csv", "--server=" + address, "--retry-for=0", file.toString());

        assertThat(run.exitCode()).isEqualTo(5);
        assertThat(run.err())
                .startsWith("relay: cannot reach the relay: server=" + address + "; is it running?")
                .hasLineCount(1);
    }

    @Test
    void aFileThatIsNotThereIsSaidInOneLine() {
        CommandRun run = importCsv(folder.resolve("no.csv"));

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).startsWith("relay: cannot read the file: file=").hasLineCount(1);
    }

    private CommandRun importCsv(Path file, String... more) {
        String[] arguments = {"import", "--pipe=plant", "--type=csv", "--rows=2", "--server=" + relay.address()};
        String[] all = new String[arguments.length + more.length + 1];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        System.arraycopy(more, 0, all, arguments.length, more.length);
        all[all.length - 1] = file.toString();
        return CommandRun.of(all);
    }

    private Path write(String text) throws IOException {
        return Files.writeString(folder.resolve("rows.csv"), text);
    }
}
