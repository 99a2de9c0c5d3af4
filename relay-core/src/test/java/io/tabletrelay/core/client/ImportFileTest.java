package io.tabletrelay.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImportFileTest {
    @TempDir
    private Path folder;

    @Test
    void aLineEndInsideQuotesIsNotTheEndOfARecord() throws IOException {
        assertThat(bodies("csv", 1, "t,v\n1,\"a\n\"\"b\n\"\n2,c"))
                .containsExactly("t,v\n1,\"a\n\"\"b\n\"\n", "t,v\n2,c");
    }

    @Test
    void aQuoteInTheMiddleOfAFieldIsJustAQuote() throws IOException {
        assertThat(bodies("csv", 1, "t,v\n1,5\" pipe\n2,c\n")).containsExactly("t,v\n1,5\" pipe\n", "t,v\n2,c\n");
    }

    @Test
    void everyKindOfLineEndEndsARecord() throws IOException {
        assertThat(bodies("csv", 1, "t,v\r\n1,a\r\n2,b\r3,c\n"))
                .containsExactly("t,v\r\n1,a\r\n", "t,v\r\n2,b\r", "t,v\r\n3,c\n");
    }

    @Test
    void blankLinesAreNoRows() throws IOException {
        assertThat(bodies("csv", 2, "t,v\n1,a\n\n2,b\n\n\n")).containsExactly("t,v\n1,a\n\n2,b\n");
    }

    @Test
    void aFileWithOnlyAHeaderOrNothingHasNoRequests() throws IOException {
        assertThat(bodies("csv", 2, "t,v")).isEmpty();
        assertThat(bodies("csv", 2, "")).isEmpty();
        assertThat(bodies("bytes", 2, "")).isEmpty();
    }

    @Test
    void jsonIsCutBetweenLinesButAnArrayIsNot() throws IOException {
        assertThat(bodies("json", 2, "{\"a\":\"\\\"\"}\n{}\n{}")).containsExactly("{\"a\":\"\\\"\"}\n{}\n", "{}");
        assertThat(bodies("json", 1, " \n[{},\n{}]\n")).containsExactly(" \n[{},\n{}]\n");
    }

    @Test
    void anythingElseIsOneRequest() throws IOException {
        assertThat(bodies("bytes", 1, "a\nb\"\nc")).containsExactly("a\nb\"\nc");
    }

    @Test
    void aRequestKnowsTheLinesOfItsRowsInTheFile() throws IOException {
        Path file = Files.writeString(folder.resolve("f"), "t,v\r\n1,\"a\nb\"\r\n2,c\r3,d\n");

        List<ImportFile.Request> requests = requests("csv", 1, file);

        assertThat(requests).extracting(request -> request.fileLine(2)).containsExactly(2L, 4L, 5L);
        assertThat(requests.get(0).fileLine(3)).isEqualTo(3);
        assertThat(requests.get(2).fileLine(1)).isEqualTo(1);
    }

    @Test
    void theReadBytesEndAtTheFilesSize() throws IOException {
        Path file = Files.writeString(folder.resolve("f"), "t,v\r\n1,a\r\n");

        try (ImportFile source = ImportFile.open(file, "csv", 1)) {
            assertThat(source.next()).isNotNull();
            assertThat(source.next()).isNull();
            assertThat(source.readBytes()).isEqualTo(Files.size(file));
        }
    }

    @Test
    void theFingerprintFollowsTheContentAndHowItIsCutNotThePlace() throws IOException {
        Path one = Files.writeString(folder.resolve("one"), "t,v\n1,a\n");
        Path copy = Files.copy(one, folder.resolve("copy"));
        Path longer = Files.writeString(folder.resolve("longer"), "t,v\n1,a\n2,b\n");
        String fingerprint = ImportFile.fingerprint(one, "csv", 10, Map.of());

        assertThat(fingerprint).matches("import-[0-9a-f]{24}");
        assertThat(ImportFile.fingerprint(copy, "csv", 10, Map.of())).isEqualTo(fingerprint);
        assertThat(List.of(
                        ImportFile.fingerprint(longer, "csv", 10, Map.of()),
                        ImportFile.fingerprint(one, "csv", 11, Map.of()),
                        ImportFile.fingerprint(one, "json", 10, Map.of()),
                        ImportFile.fingerprint(one, "csv", 10, Map.of("k", "v"))))
                .doesNotContain(fingerprint)
                .doesNotHaveDuplicates();
    }

    private List<String> bodies(String type, int rows, String text) throws IOException {
        Path file = Files.writeString(folder.resolve("f"), text);
        return requests(type, rows, file).stream()
                .map(request -> new String(request.body().array(), StandardCharsets.UTF_8))
                .toList();
    }

    private static List<ImportFile.Request> requests(String type, int rows, Path file) throws IOException {
        List<ImportFile.Request> requests = new ArrayList<>();
        try (ImportFile source = ImportFile.open(file, type, rows)) {
            for (ImportFile.Request request = source.next(); request != null; request = source.next()) {
                requests.add(request);
            }
        }
        return requests;
    }
}
