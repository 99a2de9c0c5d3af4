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
import io.tabletrelay.api.tablet.TabletType;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class TabletSerializerTest {
    private final CollectedPayloads payloads = new CollectedPayloads();
    private final ByteBuffer tablet = new TabletCodec()
            .encode(Tablet.builder("root.sg.d1")
                    .column("temperature", TabletType.DOUBLE)
                    .column("note", TabletType.STRING)
                    .row(1, 21.5, "ok")
                    .row(2, null, null)
                    .build());

    @Test
    void isFoundByTheServiceLoader() {
        assertThat(ServiceLoader.load(EventSerializer.class))
                .singleElement()
                .isInstanceOf(TabletSerializer.class)
                .returns("iotdb-tablet", EventSerializer::sourceType)
                .returns(EventSerializer.SPI_VERSION, EventSerializer::spiVersion);
    }

    @Test
    void aTabletBecomesOnePayloadOfTheSameBytes() throws Exception {
        ByteBuffer framed = ByteBuffer.allocate(tablet.remaining() + 9)
                .putLong(7)
                .put(tablet.duplicate())
                .limit(tablet.remaining() + 8)
                .position(8);

        serialize(framed);

        assertThat(payloads.all).containsExactly(new Payload(TabletCodec.CONTENT_TYPE, Map.of(), tablet));
    }

    @Test
    void everyTruncationIsRefusedWithItsPosition() {
        for (int length = 0; length < tablet.limit(); length++) {
            ByteBuffer cut = tablet.slice(0, length);

            BadEventException refusal = catchThrowableOfType(BadEventException.class, () -> serialize(cut));

            assertThat(refusal).as("of length %d", length).isNotNull();
            assertThat(refusal.byteOffset()).isBetween(0L, (long) length);
            assertThat(refusal).hasMessageStartingWith("byte " + refusal.byteOffset() + ": ");
        }
        assertThat(payloads.all).isEmpty();
    }

    private void serialize(ByteBuffer source) throws BadEventException {
        new TabletSerializer().serialize(new SourceEvent(new PipeName("p"), source, Map.of()), payloads);
    }
}
