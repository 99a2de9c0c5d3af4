package io.tabletrelay.plugins.json;

import com.fasterxml.jackson.core.JsonFactory;
import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.PayloadSink;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.api.serializer.SourceEvent;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * JSON in UTF-8, validated; each payload is exactly the document's bytes as they came, without the white space around it.
 *
 * <p>With {@code split=auto}, the default, the text decides what the documents are: if it is one array, its elements (an
 * empty array becomes nothing); if it is one value of another kind, that value; if more follows the first value, each line
 * that is not blank must be one whole document, an array too. So one line of newline-delimited JSON that is an array is
 * taken apart when it comes alone: with {@code split=none} the text must be one value, an array too, and stays whole.
 *
 * <p>Keys may repeat. Nesting is limited to 1,000 levels and a number to 1,000 digits.
 *
 * <p>Threading: thread-safe, provided it is opened before threads share it.
 */
public final class JsonSerializer implements EventSerializer {
    private static final String CONTENT_TYPE = "application/json";

    /** Without detection the bytes are taken for UTF-8, never for UTF-16 or UTF-32. */
    private final JsonFactory factory = JsonFactory.builder()
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .build();

    private int maxPayloads = Integer.MAX_VALUE;

    @Override
    public int spiVersion() {
        return SPI_VERSION;
    }

    @Override
    public String sourceType() {
        return "json";
    }

    @Override
    public boolean threadSafe() {
        return true;
    }

    @Override
    public void open(SerializerContext context) {
        maxPayloads = context.maxPayloads();
    }

    @Override
    public void serialize(SourceEvent event, PayloadSink sink) throws BadEventException {
        JsonSplitter splitter = new JsonSplitter(factory, JsonText.of(event.bytes()), maxPayloads);
        String split = event.option("split", "auto");
        List<ByteBuffer> documents = switch (split) {
            case "auto" -> splitter.split();
            case "none" -> splitter.whole();
            default ->
                throw BadEventException.withoutPosition(
                        "option not understood: split=" + split + "; expected auto or none");
        };
        documents.forEach(document -> sink.add(CONTENT_TYPE, document));
    }
}
