package io.tabletrelay.plugins.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.api.serializer.SourceEvent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonSerializerTest {
    private static final String NESTED = "{ \"a\" : [1, {\"b\":\"ä😀\\u00e9\"}],\n \"a\": -1.5e3 }";

    private final JsonSerializer serializer = new JsonSerializer();
    private final CollectedPayloads payloads = new CollectedPayloads();

    @Test
    void isFoundByTheServiceLoader() {
        assertThat(ServiceLoader.load(EventSerializer.class))
                .singleElement()
                .isInstanceOf(JsonSerializer.class)
                .returns("json", EventSerializer::sourceType)
                .returns(EventSerializer.SPI_VERSION, EventSerializer::spiVersion);
    }

    @ParameterizedTest
    @ValueSource(strings = {NESTED, "{}", "\"text\"", "12.50", "true", "null"})
    void aDocumentKeepsItsBytesButForTheWhiteSpaceAroundIt(String document) throws Exception {
        serialize("\uFEFF \r\n\t" + document + " \n\n");

        assertThat(payloads.texts()).containsExactly(document);
        assertThat(payloads.all).extracting(Payload::contentType).containsExactly("application/json");
    }

    @Test
    void anArrayBecomesOneEventPerElement() throws Exception {
        serialize(" [ 1 , \"b,]\" ,\n" + NESTED + ",[2, 3],true , 1.5e3,{}\n] ");

        assertThat(payloads.texts()).containsExactly("1", "\"b,]\"", NESTED, "[2, 3]", "true", "1.5e3", "{}");
    }

    @Test
    void anEmptyArrayBecomesNothing() throws Exception {
        serialize(" [ ] ");

        assertThat(payloads.all).isEmpty();
    }

    @Test
    void linesBecomeOneEventEach() throws Exception {
        serialize("{\"a\":1}\r\n\n  [1,2] \n3\n\"é\"");

        assertThat(payloads.texts()).containsExactly("{\"a\":1}", "[1,2]", "3", "\"é\"");
    }

    @Test
    void withoutSplittingAnArrayStaysWhole() throws Exception {
        serialize(" [1, 2]\n", Map.of("split", "none"));

        assertThat(payloads.texts()).containsExactly("[1, 2]");
    }

    @Test
    void withoutSplittingASecondDocumentIsRefused() {
        BadEventException refusal = refusal("{}\n{}".getBytes(StandardCharsets.UTF_8), Map.of("split", "none"));

        assertThat(refusal).hasMessageStartingWith("line 2, column 1: something follows the document");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"a\":1}}        | 1 | 8  | something follows the document",
                "{} {}             | 1 | 4  | something follows the document",
                "{\"a\":1,         | 1 | 8  | end-of-input",
                "[1,,2]            | 1 | 4  | expected a value",
                "{\"ä\":nul}       | 1 | 6  | Unrecognized token: was expecting",
                "\"abc             | 1 | 5  | end-of-input",
                "01                | 1 | 2  | Leading zeroes",
                "[NaN]             | 1 | 5  | Non-standard token: enable",
                "[1] // comment    | 1 | 5  | something follows the document",
                "[1,2              | 1 | 5  | expected close marker",
                "{'a':1}           | 1 | 2  | was expecting double-quote",
                "<xml/>            | 1 | 1  | Unexpected character",
            })
    void whatIsNoJsonIsRefusedWhereItBreaks(String source, long line, long column, String problem) {
        BadEventException refusal = refusal(source.getBytes(StandardCharsets.UTF_8), Map.of());

        assertThat(refusal).hasMessageContaining(problem);
        assertThat(refusal.line()).isEqualTo(line);
        assertThat(refusal.column()).isEqualTo(column);
        assertThat(payloads.all).isEmpty();
    }

    @Test
    void aBrokenLineIsRefusedWithItsNumberAndNothingIsAdded() {
        BadEventException refusal = refusal("{\"a\":1}\n\n{\"b\":}\n3".getBytes(StandardCharsets.UTF_8), Map.of());

        assertThat(refusal)
                .hasMessageStartingWith("line 3, column 6: not valid JSON")
                .hasMessageEndingWith("one per line");
        assertThat(payloads.all).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "  \r\n ", "\uFEFF"})
    void textWithoutADocumentIsRefused(String source) {
        assertThat(refusal(source.getBytes(StandardCharsets.UTF_8), Map.of())).hasMessageContaining("no JSON document");
    }

    @Test
    void everyTruncationOfAnObjectIsRefused() {
        byte[] document = NESTED.getBytes(StandardCharsets.UTF_8);

        for (int length = 0; length < document.length; length++) {
            byte[] cut = Arrays.copyOf(document, length);
            assertThat(refusal(cut, Map.of())).as("of length %d", length).isNotNull();
        }
    }

    @Test
    void otherEncodingsAreRefused() {
        assertThat(refusal("[1]".getBytes(StandardCharsets.UTF_16BE), Map.of())).hasMessageContaining("not valid JSON");
        assertThat(refusal("[1]".getBytes(StandardCharsets.UTF_16), Map.of())).hasMessageContaining("not UTF-8");
        assertThat(refusal("\n[\"é\"]".getBytes(StandardCharsets.ISO_8859_1), Map.of()))
                .hasMessage("line 2, column 3: not UTF-8: byteOffset=3");
    }

    @Test
    void nestingIsLimited() {
        byte[] deep = ("[".repeat(1_001) + "]".repeat(1_001)).getBytes(StandardCharsets.UTF_8);

        assertThat(refusal(deep, Map.of()))
                .hasMessageContaining("nesting depth")
                .hasMessageStartingWith("line 1, column 10");
    }

    @Test
    void moreDocumentsThanTheRelayTakesAreRefusedAtTheFirstTooMany() {
        serializer.open(new SerializerContext(1024, 3));

        assertThat(refusal("[1,2,3,4]".getBytes(StandardCharsets.UTF_8), Map.of()))
                .hasMessage("line 1, column 8: too many documents for one request: limit=3");
        assertThat(refusal("1\n2\n3\n4".getBytes(StandardCharsets.UTF_8), Map.of()))
                .hasMessage("line 4, column 1: too many documents for one request: limit=3");
    }

    @Test
    void anUnknownSplitIsRefused() {
        assertThat(refusal(new byte[] {'1'}, Map.of("split", "lines")))
                .hasMessage("option not understood: split=lines; expected auto or none");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void damagedTextNeverThrowsAnythingElse(long seed) {
        Random random = new Random(seed);
        byte[] valid =
                ("[" + NESTED + ",\"x\", 1]\n" + NESTED.replace("\n", "") + "\n[]").getBytes(StandardCharsets.UTF_8);
        for (int run = 0; run < 5_000; run++) {
            byte[] damaged = valid.clone();
            for (int flips = random.nextInt(3); flips >= 0; flips--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            assertThat(refusal(damaged, Map.of()))
                    .as("seed %d, run %d", seed, run)
                    .isNotNull();
        }
    }

    @Test
    void theSourceIsNotPartOfThePayloads() throws Exception {
        byte[] source = "[1,2]".getBytes(StandardCharsets.UTF_8);
        serializer.serialize(new SourceEvent(new PipeName("p"), ByteBuffer.wrap(source), Map.of()), payloads);

        Arrays.fill(source, (byte) 'x');

        assertThat(payloads.texts()).containsExactly("1", "2");
    }

    private void serialize(String source) throws BadEventException {
        serialize(source, Map.of());
    }

    private void serialize(String source, Map<String, String> options) throws BadEventException {
        serialize(source.getBytes(StandardCharsets.UTF_8), options);
    }

    private void serialize(byte[] source, Map<String, String> options) throws BadEventException {
        ByteBuffer framed = ByteBuffer.allocate(source.length + 2)
                .put((byte) '{')
                .put(source)
                .put((byte) '}');
        serializer.serialize(
                new SourceEvent(new PipeName("p"), framed.position(1).limit(source.length + 1), options), payloads);
    }

    private BadEventException refusal(byte[] source, Map<String, String> options) {
        return catchThrowableOfType(BadEventException.class, () -> serialize(source, options));
    }
}
