package io.tabletrelay.core.store.folder;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DiskNameTest {
    private static final String[] PIECES = {
        "a", "b", "z", "A", "B", "0", "_", "-", ".", "..", "/", "\\", "%", "%41", "~", " ", "ä", "Ä", "中", "😀", "con",
        ":"
    };

    @ParameterizedTest
    @CsvSource({
        "plant, plant",
        "line_1-b.raw, line_1-b.raw",
        "Plant, %50lant",
        "., %2E",
        ".., %2E%2E",
        "../../etc, %2E.%2F..%2Fetc",
        ".hidden, %2Ehidden",
        "dot., dot%2E",
        "con, %63on",
        "nul.txt, %6Eul.txt",
        "console, console",
        "a~b, a%7Eb",
        "50%, 50%25",
        "ä, %C3%A4"
    })
    void onlyPlainCharactersStandForThemselves(String name, String expected) {
        assertThat(DiskName.of(name)).isEqualTo(expected);
        assertThat(DiskName.decode(expected)).isEqualTo(name);
    }

    @Test
    void noTwoNamesMeetNotEvenWhereCaseIsIgnored() {
        long seed = 20_240_607;
        Random random = new Random(seed);
        Map<String, String> nameByFolded = new HashMap<>();

        for (int i = 0; i < 50_000; i++) {
            String name = randomName(random);
            String encoded = DiskName.of(name);
            String other = nameByFolded.put(encoded.toLowerCase(Locale.ROOT), name);

            assertThat(other == null || other.equals(name))
                    .as("seed=%d, '%s' and '%s' are both '%s'", seed, name, other, encoded)
                    .isTrue();
            assertThat(encoded).hasSizeBetween(1, DiskName.MAX_CHARS).matches("[a-z0-9_%-][a-zA-Z0-9._~%-]*");
            if (encoded.indexOf('~') < 0) {
                assertThat(DiskName.decode(encoded)).isEqualTo(name);
            }
        }
    }

    @Test
    void aLongNameIsCutAndToldFromItsNeighbourByAHash() {
        String name = "Ä".repeat(99);

        String encoded = DiskName.of(name + "x");

        assertThat(encoded).hasSize(183).startsWith("%C3%84").contains("~");
        assertThat(encoded).isNotEqualTo(DiskName.of(name + "y"));
        assertThat(DiskName.decode(encoded)).isNull();
    }

    @Test
    void aNameIsNotCutWhileItFits() {
        String longest = "a".repeat(200);

        assertThat(DiskName.of(longest)).isEqualTo(longest);
        assertThat(DiskName.of("A".repeat(66) + "bb")).hasSize(200).doesNotContain("~");
        assertThat(DiskName.of("A".repeat(66) + "bbb")).contains("~");
    }

    @ParameterizedTest
    @ValueSource(strings = {"%41a%", "%zz", "Plant", "%61", ".a", "%ff", "a%2e", "con", "ä", "a~0123"})
    void whatNoNameIsSpelledLikeIsNotDecoded(String encoded) {
        assertThat(DiskName.decode(encoded)).isNull();
    }

    private static String randomName(Random random) {
        StringBuilder name = new StringBuilder();
        int pieces = 1 + random.nextInt(random.nextInt(10) == 0 ? 120 : 6);
        for (int i = 0; i < pieces; i++) {
            name.append(PIECES[random.nextInt(PIECES.length)]);
        }
        while (name.toString().getBytes(StandardCharsets.UTF_8).length > 200) {
            name.setLength(name.offsetByCodePoints(name.length(), -1));
        }
        return name.toString();
    }
}
