package io.tabletrelay.plugins.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.SourceEvent;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BytesSerializerTest {
    private final CollectedPayloads payloads = new CollectedPayloads();

    @Test
    void isFoundByTheServiceLoader() {
        assertThat(ServiceLoader.load(EventSerializer.class))
                .singleElement()
                .isInstanceOf(BytesSerializer.class)
                .returns("bytes", EventSerializer::sourceType)
                .returns(EventSerializer.SPI_VERSION, EventSerializer::spiVersion);
    }

    @Test
    void anyBytesBecomeOnePayloadOfTheSameBytes() throws Exception {
        ByteBuffer source =
                ByteBuffer.wrap(new byte[] {9, 0, -1, 127, 9}).position(1).limit(4);

        serialize(source, Map.of());

        assertThat(payloads.all)
                .containsExactly(
                        new Payload("application/octet-stream", Map.of(), ByteBuffer.wrap(new byte[] {0, -1, 127})));
    }

    @Test
    void noBytesAreAnEventToo() throws Exception {
        serialize(ByteBuffer.allocate(0), Map.of());

        assertThat(payloads.all).singleElement().returns(0, Payload::size);
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain", "application/vnd.x+json; charset=utf-8", "image/png;a=b"})
    void theContentTypeIsTheSourcesToChoose(String contentType) throws Exception {
        serialize(ByteBuffer.allocate(1), Map.of("content-type", contentType));

        assertThat(payloads.all).singleElement().returns(contentType, Payload::contentType);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "text", "text/", "a/b\r\nSet-Cookie: x", "a/b; é", "a b/c"})
    void aContentTypeThatIsNoneIsRefused(String contentType) {
        assertThatThrownBy(() -> serialize(ByteBuffer.allocate(1), Map.of("content-type", contentType)))
                .isInstanceOf(BadEventException.class)
                .hasMessageStartingWith("option not understood: content-type=")
                .message()
                .doesNotContain("\r", "\n");
        assertThat(payloads.all).isEmpty();
    }

    private void serialize(ByteBuffer source, Map<String, String> options) throws BadEventException {
        new BytesSerializer().serialize(new SourceEvent(new PipeName("p"), source, options), payloads);
    }
}
