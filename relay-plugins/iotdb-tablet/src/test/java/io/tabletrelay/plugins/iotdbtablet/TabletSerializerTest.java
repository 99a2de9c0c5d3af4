package io.tabletrelay.plugins.iotdbtablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.api.tablet.Tablet;
import io.tabletrelay.api.tablet.TabletCodec;
import io.tabletrelay.api.tablet.TabletFamily;
import io.tabletrelay.api.tablet.TabletType;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TabletSerializerTest {
    private final CollectedPayloads payloads = new CollectedPayloads();
    private final Tablet tablet = Tablet.builder("root.sg.d1")
            .column("temperature", TabletType.DOUBLE)
            .column("note", TabletType.TEXT)
            .row(1, 21.5, "ok")
            .row(2, null, null)
            .build();

    @Test
    void isFoundByTheServiceLoader() {
        assertThat(ServiceLoader.load(EventSerializer.class))
                .singleElement()
                .isInstanceOf(TabletSerializer.class)
                .returns("iotdb-tablet", EventSerializer::sourceType)
                .returns(EventSerializer.SPI_VERSION, EventSerializer::spiVersion);
    }

    @ParameterizedTest
    @EnumSource
    void aTabletBecomesOnePayloadOfTheSameBytes(TabletFamily family) throws Exception {
        ByteBuffer bytes = new TabletCodec(family).encode(tablet);
        ByteBuffer framed = ByteBuffer.allocate(bytes.remaining() + 9)
                .putLong(7)
                .put(bytes.duplicate())
                .limit(bytes.remaining() + 8)
                .position(8);

        serialize(framed, Map.of("tablet-format", family.word()));

        assertThat(payloads.all).containsExactly(new Payload(family.contentType(), Map.of(), bytes));
    }

    @Test
    void withoutTheOptionATabletIsOfFamilyV2() throws Exception {
        ByteBuffer bytes = new TabletCodec(TabletFamily.V2).encode(tablet);

        serialize(bytes, Map.of());

        assertThat(payloads.all).containsExactly(new Payload("application/vnd.apache.iotdb.tablet", Map.of(), bytes));
    }

    @ParameterizedTest
    @EnumSource
    void everyTruncationIsRefusedWithItsPosition(TabletFamily family) {
        ByteBuffer whole = new TabletCodec(family).encode(tablet);
        for (int length = 0; length < whole.limit(); length++) {
            ByteBuffer cut = whole.slice(0, length);

            BadEventException refusal = refusal(cut, family);

            assertThat(refusal).as("of length %d", length).isNotNull();
            assertThat(refusal.byteOffset()).isBetween(0L, (long) length);
            assertThat(refusal).hasMessageStartingWith("byte " + refusal.byteOffset() + ": ");
        }
        assertThat(payloads.all).isEmpty();
    }

    @Test
    void aTabletOfTheOtherFamilyIsRefusedWithItsPositionAndWhatToSet() {
        BadEventException former = refusal(new TabletCodec(TabletFamily.V1).encode(tablet), TabletFamily.V2);
        BadEventException current = refusal(new TabletCodec(TabletFamily.V2).encode(tablet), TabletFamily.V1);

        assertThat(former)
                .hasMessageContaining("expected a tablet of family v2")
                .hasMessageEndingWith("tablet-format=v1");
        assertThat(current)
                .hasMessageContaining("expected a tablet of family v1")
                .hasMessageEndingWith("tablet-format=v2");
        assertThat(List.of(former, current))
                .extracting(BadEventException::byteOffset)
                .doesNotContain(-1L, 0L);
        assertThat(payloads.all).isEmpty();
    }

    private BadEventException refusal(ByteBuffer source, TabletFamily family) {
        return catchThrowableOfType(
                BadEventException.class, () -> serialize(source, Map.of("tablet-format", family.word())));
    }

    private void serialize(ByteBuffer source, Map<String, String> options) throws BadEventException {
        new TabletSerializer().serialize(new SourceEvent(new PipeName("p"), source, options), payloads);
    }
}
