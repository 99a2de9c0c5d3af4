package io.tabletrelay.harness.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/faults.md} names tests: they must be there. */
class FaultsPageTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern NAMED_TEST = Pattern.compile("`(\\w+(?:Test|IT))\\.(\\w+)`");

    @Test
    void everyTestThatThePageNamesExists() throws IOException {
        String page = Files.readString(ROOT.resolve("docs").resolve("faults.md"));
        List<Path> sources = testSources();

        List<String> missing = NAMED_TEST
                .matcher(page)
                .results()
                .filter(named -> !exists(sources, named.group(1), named.group(2)))
                .map(named -> named.group(1) + "." + named.group(2))
                .distinct()
                .toList();

        assertThat(missing).isEmpty();
        assertThat(NAMED_TEST.matcher(page).results().count()).isGreaterThan(80);
    }

    private static boolean exists(List<Path> sources, String type, String member) {
        Pattern declaration = Pattern.compile("\\b(void " + member + "\\(|ArchRule " + member + " =)");
        return sources.stream()
                .filter(source -> source.getFileName().toString().equals(type + ".java"))
                .anyMatch(source -> declaration.matcher(read(source)).find());
    }

    private static List<Path> testSources() throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            List<Path> folders = modules.map(module -> module.resolve("src/test/java"))
                    .filter(Files::isDirectory)
                    .toList();
            assertThat(folders).isNotEmpty();
            return folders.stream().flatMap(FaultsPageTest::javaFiles).toList();
        }
    }

    private static Stream<Path> javaFiles(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
