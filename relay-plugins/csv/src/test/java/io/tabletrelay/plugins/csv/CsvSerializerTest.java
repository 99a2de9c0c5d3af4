package io.tabletrelay.plugins.csv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.api.tablet.Tablet;
import io.tabletrelay.api.tablet.TabletCodec;
import io.tabletrelay.api.tablet.TabletColumn;
import io.tabletrelay.api.tablet.TabletFamily;
import io.tabletrelay.api.tablet.TabletType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CsvSerializerTest {
    private final CsvSerializer serializer = new CsvSerializer();
    private final CollectedPayloads payloads = new CollectedPayloads();

    @Test
    void isFoundByTheServiceLoader() {
        assertThat(ServiceLoader.load(EventSerializer.class))
                .singleElement()
                .isInstanceOf(CsvSerializer.class)
                .returns("csv", EventSerializer::sourceType)
                .returns(EventSerializer.SPI_VERSION, EventSerializer::spiVersion);
    }

    @Test
    void rowsBecomeATabletOfThePipesName() throws Exception {
        serialize("time,temperature,ok,note\n1000,21.5,true,fine\n2000,,FALSE,\n", Map.of());

        Tablet tablet = onlyTablet();
        assertThat(tablet.target()).isEqualTo("plant");
        assertThat(tablet.columns())
                .containsExactly(
                        TabletColumn.field("temperature", TabletType.DOUBLE),
                        TabletColumn.field("ok", TabletType.BOOLEAN),
                        TabletColumn.field("note", TabletType.STRING));
        assertThat(rows(tablet)).containsExactly("1000 [21.5, true, fine]", "2000 [null, false, null]");
    }

    @Test
    void rowsAreCutIntoTabletsOfTheAskedSizeThatAgreeOnTypes() throws Exception {
        serialize("t,a\n1,1\n2,2\n3,3\n4,x\n5,\n", Map.of("rows", "2", "device", "root.sg.d1"));

        assertThat(tablets()).extracting(Tablet::rowCount).containsExactly(2, 2, 1);
        assertThat(tablets()).extracting(Tablet::target).containsOnly("root.sg.d1");
        assertThat(tablets())
                .extracting(Tablet::columns)
                .containsOnly(List.of(TabletColumn.field("a", TabletType.STRING)));
        assertThat(tablets().stream().flatMap(tablet -> rows(tablet).stream()))
                .containsExactly("1 [1]", "2 [2]", "3 [3]", "4 [x]", "5 [null]");
    }

    @Test
    void fiveHundredRowsAreATabletUnlessAskedOtherwise() throws Exception {
        serialize("t,a\n" + "1,1\n".repeat(1_001), Map.of());

        assertThat(tablets()).extracting(Tablet::rowCount).containsExactly(500, 500, 1);
    }

    @Test
    void declaredTypesAreKept() throws Exception {
        serialize(
                "t,b,i,l,f,d,x,s,ts,day\n1, true ,-7,9007199254740993,1.5,NaN,007,1,2024-02-29 12:00:00,2024-02-29\n",
                Map.of("types", "b:BOOLEAN,i:INT32,l:int64, f:FLOAT,d:DOUBLE,x:TEXT,s:STRING,ts:TIMESTAMP,day:DATE"));

        assertThat(onlyTablet().rows().get(0).values())
                .isEqualTo(List.of(
                        true,
                        -7,
                        9007199254740993L,
                        1.5f,
                        Double.NaN,
                        "007",
                        "1",
                        1709208000000L,
                        LocalDate.of(2024, 2, 29)));
    }

    @ParameterizedTest
    @CsvSource({
        "1;-2.5;+.5e3, DOUBLE", "1;nan, DOUBLE", "true;False, BOOLEAN", "true;1, STRING", "1;n/a, STRING",
        "9007199254740992, DOUBLE", "9007199254740993000, STRING", "007;1, STRING", "0.5;0, DOUBLE", "1e999, STRING",
        "0x10, STRING", "1d, STRING", "Infinity, STRING", "2024-01-01, STRING", "١, STRING"
    })
    void typesAreInferredSoThatNoValueIsChanged(String fields, TabletType type) throws Exception {
        serialize("t,a\n1," + fields.replace(";", "\n2,") + "\n3,\n", Map.of());

        assertThat(onlyTablet().columns()).containsExactly(TabletColumn.field("a", type));
    }

    @Test
    void tabletsOfFamilyV1HaveTypesThatAllItsReadersKnowUnlessOthersAreDeclared() throws Exception {
        String source = "t,number,flag,text,empty,day\n1,2.5,true,x,,2024-02-29\n";
        serialize(source, Map.of("tablet-format", "v1", "types", "day:DATE"));

        Tablet tablet = tablets(TabletFamily.V1).get(0);
        assertThat(tablet.columns())
                .extracting(TabletColumn::type)
                .containsExactly(
                        TabletType.DOUBLE, TabletType.BOOLEAN, TabletType.TEXT, TabletType.TEXT, TabletType.DATE);
        assertThat(rows(tablet)).containsExactly("1 [2.5, true, x, null, 2024-02-29]");
    }

    @Test
    void aFamilyThatDoesNotExistIsRefused() {
        assertThat(refusal("t,a\n1,1\n", Map.of("tablet-format", "v3")))
                .hasMessage("option not understood: tablet-format=v3; expected v1 or v2");
    }

    @Test
    void aColumnWithoutAnyValueIsOneOfNullStrings() throws Exception {
        serialize("t,a\n1,\n2,\"\"\n", Map.of());

        assertThat(onlyTablet().columns()).containsExactly(TabletColumn.field("a", TabletType.STRING));
        assertThat(rows(onlyTablet())).containsExactly("1 [null]", "2 [null]");
    }

    @Test
    void quotesLineEndsAndTheByteOrderMarkAreNoObstacle() throws Exception {
        serialize("\uFEFFt,\"a \"\"x\"\"\", b\r\n1,\"x, \"\"y\"\"\r\nz\",\" ü \"\r\n\r\n2,😀,\r3,,\"\"", Map.of());

        assertThat(onlyTablet().columns()).extracting(TabletColumn::name).containsExactly("a \"x\"", "b");
        assertThat(rows(onlyTablet())).containsExactly("1 [x, \"y\"\r\nz,  ü ]", "2 [😀, null]", "3 [null, null]");
    }

    /** FastCSV 4.0.0 lost such a row without a word. */
    @Test
    void aCarriageReturnInQuotesDoesNotLoseItsRow() throws Exception {
        serialize("t,a\n1,\"x\ry\"\n", Map.of());

        assertThat(rows(onlyTablet())).containsExactly("1 [x\ry]");
    }

    @ParameterizedTest
    @CsvSource({
        "1709208000250, 1709208000250",
        "-1, -1",
        "2024-02-29T12:00:00.250Z, 1709208000250",
        "2024-02-29T13:00:00.250+01:00, 1709208000250",
        "2024-02-29T13:00:00.25+0100, 1709208000250",
        "2024-02-29 13:00+01, 1709208000000",
        "2024-02-29T12:00:00, 1709208000000",
        "2024-02-29 12:00:00, 1709208000000",
        "2024-02-29 12:00:00.250999, 1709208000250",
        "2024-02-29, 1709164800000"
    })
    void timesAreReadInTheseForms(String time, long epochMillis) throws Exception {
        serialize("t,a\n" + time + ",1\n", Map.of());

        assertThat(onlyTablet().time(0)).isEqualTo(epochMillis);
    }

    @Test
    void timesWithoutAnOffsetAreOfTheZone() throws Exception {
        serialize(
                "t,a\n2024-02-29 13:00:00,1\n2024-07-01 14:00:00,1\n2024-07-01 12:00:00Z,1\n2024-10-27 02:30:00,1\n",
                Map.of("zone", "Europe/Berlin"));

        assertThat(onlyTablet().rows())
                .extracting(Tablet.Row::time)
                .containsExactly(1709208000000L, 1719835200000L, 1719835200000L, 1729989000000L);
    }

    @Test
    void theTimeColumnMayBeAny() throws Exception {
        serialize("a,when,b\n1,5,2\n", Map.of("time", "when"));

        assertThat(onlyTablet().columns()).extracting(TabletColumn::name).containsExactly("a", "b");
        assertThat(rows(onlyTablet())).containsExactly("5 [1.0, 2.0]");
    }

    @Test
    void rowsBecomeJsonObjectsWhenAsked() throws Exception {
        serialize(
                "a,when,\"b\"\"\\\",c,d,n\n1,1970-01-01 00:00:01,\"x\n\"\"y\\\u0001é\",true,2024-02-29,NaN\n,2,,,,\n",
                Map.of("to", "json", "time", "when", "types", "d:DATE", "rows", "1000"));

        assertThat(payloads.texts())
                .containsExactly(
                        "{\"a\":1.0,\"when\":1000,\"b\\\"\\\\\":\"x\\u000a\\\"y\\\\\\u0001é\",\"c\":true,\"d\":\"2024-02-29\",\"n\":null}",
                        "{\"a\":null,\"when\":2,\"b\\\"\\\\\":null,\"c\":null,\"d\":null,\"n\":null}");
        assertThat(payloads.all).extracting(Payload::contentType).containsOnly("application/json");
    }

    @Test
    void aHeaderAloneBecomesNothing() throws Exception {
        serialize("t,a\n\n", Map.of());

        assertThat(payloads.all).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "                          | 1 | 1 | no header row",
                "t                         | 1 | 1 | no column beside the time's: column=t",
                "t,a, ;1,2,3               | 1 | 5 | column without a name: column number=3",
                "t,é,é                     | 1 | 5 | two columns of the same name: column=é",
                "t,a;1,2;2,3,4             | 3 | 1 | row does not fit the header: fields=3, columns=2",
                "t,a;1                     | 2 | 1 | row does not fit the header: fields=1, columns=2",
                "t,a;1,2;x,3               | 3 | 1 | not a time: column=t; expected epoch",
                "t,a;,2                    | 2 | 1 | not a time: column=t",
                "t,a;2024-02-30,2          | 2 | 1 | not a time: column=t",
                "t,a;99999999999999999999,2| 2 | 1 | not a time: column=t",
                "t,a;24-02-30,2            | 2 | 1 | not a time: column=t",
                "t,a;2024-02-29T24:00,2    | 2 | 1 | not a time: column=t",
                "t,a;2024-02-29 12:00ZZ,2  | 2 | 1 | not a time: column=t",
                "t,a;+999999999-01-01,2    | 2 | 1 | not a time: column=t",
                "t,n,i;1,\"a;😀b\",x       | 3 | 5 | value does not fit the column's type: column=i, type=INT32",
                "t,i;1,2147483648          | 2 | 3 | value does not fit the column's type: column=i, type=INT32",
                "t,i;1,\"1.5\"             | 2 | 3 | value does not fit the column's type: column=i, type=INT32",
                "t,a;1,\"x                 | 2 | 3 | quoted field without a closing quote",
                "t,a;1,\"                  | 2 | 3 | quoted field without a closing quote",
                "t,a;1,2;2,\"x\"y          | 3 | 1 | something follows a field's closing quote",
            })
    void whatIsNoTableIsRefusedWhereItBreaks(String source, long line, long column, String problem) {
        String text = source == null ? "" : source.replace(';', '\n');
        Map<String, String> options = text.contains("i") ? Map.of("types", "i:INT32") : Map.of();

        BadEventException refusal = refusal(text, options);

        assertThat(refusal).hasMessageStartingWith("line " + line + ", column " + column + ": " + problem);
        assertThat(payloads.all).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "to    | xml            | option not understood: to=xml; expected tablet or json",
                "rows  | 0              | option not understood: rows=0; expected rows per tablet, 1 to 1000000",
                "rows  | many           | option not understood: rows=many; expected",
                "zone  | Berlin         | option not understood: zone=Berlin; expected a time zone",
                "time  | when           | option not understood: time=when; expected a column of [t, a]",
                "types | a:INT          | option not understood: types=a:INT; expected column:type",
                "types | a:BLOB         | option not understood: types=a:BLOB; expected column:type",
                "types | a              | option not understood: types=a; expected column:type",
                "types | b:INT32        | option not understood: types=b; expected columns of [t, a]",
                "types | t:INT64        | option not understood: types=t; expected columns beside the time's",
                "types | a:INT32,a:TEXT | option not understood: types=a:TEXT; expected each column once",
                "device| ' '            | option not understood: device= ; expected the device's path",
            })
    void anOptionThatMakesNoSenseIsRefusedByName(String name, String value, String problem) {
        assertThat(refusal("t,a\n1,2\n", Map.of(name, value))).hasMessageStartingWith(problem);
    }

    @Test
    void aTimeThatTheZoneSkipsIsRefused() {
        assertThat(refusal("t,a\n2024-03-31 02:30:00,1\n", Map.of("zone", "Europe/Berlin")))
                .hasMessageStartingWith("line 2, column 1: not a time");
    }

    @Test
    void textThatIsNotUtf8IsRefusedWhereItStands() {
        byte[] latin1 = "t,a\n1,grün\n".getBytes(StandardCharsets.ISO_8859_1);

        BadEventException refusal = catchThrowableOfType(BadEventException.class, () -> serialize(latin1, Map.of()));

        assertThat(refusal).hasMessage("line 2, column 5: not UTF-8: byteOffset=8");
    }

    @Test
    void moreTabletsThanTheRelayTakesAreRefusedAtTheFirstRowTooMany() {
        serializer.open(new SerializerContext(1 << 20, 3));

        BadEventException refusal = refusal("t,a\n" + "1,1\n".repeat(7), Map.of("rows", "2"));

        assertThat(refusal)
                .hasMessage("line 8, column 1: too many rows for one request: limit=6;"
                        + " send fewer at once or put more into one tablet with the option rows");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void generatedTablesComeBackAsTheyWere(long seed) throws Exception {
        Random random = new Random(seed);
        List<String> expected = new ArrayList<>();
        StringBuilder source = new StringBuilder("t,number,text\n");
        for (int row = 0; row < 2_000; row++) {
            double number = random.nextGaussian() * Math.pow(10, random.nextInt(40) - 20);
            String text = generatedText(random);
            expected.add(row + " [" + number + ", " + (text.isEmpty() ? null : text) + "]");
            source.append(row).append(',').append(number).append(",\"");
            source.append(text.replace("\"", "\"\"")).append(random.nextBoolean() ? "\"\n" : "\"\r\n");
        }

        serialize(source.toString(), Map.of("types", "text:STRING", "rows", "128"));

        assertThat(tablets().stream().flatMap(tablet -> rows(tablet).stream()))
                .as("seed %d", seed)
                .containsExactlyElementsOf(expected);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void damagedTablesNeverThrowAnythingElse(long seed) {
        Random random = new Random(seed);
        byte[] valid = "t,a,\"b\"\n1,2.5,\"x\"\"\"\n2024-02-29 12:00:00,,true\r\n".getBytes(StandardCharsets.UTF_8);
        int refused = 0;
        for (int run = 0; run < 5_000; run++) {
            byte[] damaged = valid.clone();
            damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            damaged[random.nextInt(damaged.length)] = (byte) "\",\n\r1t".charAt(random.nextInt(6));
            refused +=
                    catchThrowableOfType(BadEventException.class, () -> serialize(damaged, Map.of())) == null ? 0 : 1;
        }

        assertThat(refused).as("seed %d", seed).isBetween(1_000, 4_999);
    }

    private static String generatedText(Random random) {
        String alphabet = "ab ,\"\n\ré😀";
        int[] codePoints = random.ints(random.nextInt(12), 0, alphabet.codePointCount(0, alphabet.length()))
                .map(i -> alphabet.codePointAt(alphabet.offsetByCodePoints(0, i)))
                .toArray();
        return new String(codePoints, 0, codePoints.length);
    }

    private void serialize(String source, Map<String, String> options) throws BadEventException {
        serialize(source.getBytes(StandardCharsets.UTF_8), options);
    }

    private void serialize(byte[] source, Map<String, String> options) throws BadEventException {
        ByteBuffer framed = ByteBuffer.allocate(source.length + 2)
                .put((byte) '"')
                .put(source)
                .put((byte) '"');
        serializer.serialize(
                new SourceEvent(new PipeName("plant"), framed.position(1).limit(source.length + 1), options), payloads);
    }

    private BadEventException refusal(String source, Map<String, String> options) {
        return catchThrowableOfType(BadEventException.class, () -> serialize(source, options));
    }

    private Tablet onlyTablet() {
        assertThat(payloads.all).hasSize(1);
        return tablets().get(0);
    }

    private List<Tablet> tablets() {
        return tablets(TabletFamily.V2);
    }

    private List<Tablet> tablets(TabletFamily family) {
        assertThat(payloads.all).extracting(Payload::contentType).containsOnly(family.contentType());
        return payloads.all.stream().map(payload -> decoded(family, payload)).toList();
    }

    private static Tablet decoded(TabletFamily family, Payload payload) {
        try {
            return new TabletCodec(family).decode(payload.bytes());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static List<String> rows(Tablet tablet) {
        return tablet.rows().stream()
                .map(row -> row.time() + " " + row.values())
                .toList();
    }
}
