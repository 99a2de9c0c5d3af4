package io.tabletrelay.plugins.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.tabletrelay.api.serializer.BadEventException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the documents in one text, and that nothing else is in it.
 *
 * <p>Threading: confined to one call of the serializer.
 */
final class JsonSplitter {
    private final JsonFactory factory;
    private final JsonText text;
    private final int maxDocuments;
    private final List<ByteBuffer> documents = new ArrayList<>();

    JsonSplitter(JsonFactory factory, JsonText text, int maxDocuments) {
        this.factory = factory;
        this.text = text;
        this.maxDocuments = maxDocuments;
    }

    /** The whole text, which must be one document. */
    List<ByteBuffer> whole() throws BadEventException {
        int from = text.skipBlank(text.start(), text.end());
        int end = value(from, text.end(), false, "");
        refuseMore(end, text.end());
        add(from, end);
        return documents;
    }

    /** The elements of the array, the document, or the documents of the lines that the text is. */
    List<ByteBuffer> split() throws BadEventException {
        int from = text.skipBlank(text.start(), text.end());
        boolean array = from < text.end() && text.bytes()[from] == '[';
        int end = value(from, text.end(), array, "");
        if (text.skipBlank(end, text.end()) < text.end()) {
            return lines();
        }
        if (!array) {
            add(from, end);
        }
        return documents;
    }

    private List<ByteBuffer> lines() throws BadEventException {
        documents.clear();
        int lineStart = text.start();
        while (lineStart < text.end()) {
            int lineEnd = text.lineEnd(lineStart);
            int from = text.skipBlank(lineStart, lineEnd);
            if (from < lineEnd) {
                int end = value(from, lineEnd, false, "; more than one document must be one per line");
                refuseMore(end, lineEnd);
                add(from, end);
            }
            lineStart = lineEnd + 1;
        }
        return documents;
    }

    /** Reads one value and returns the offset behind it. */
    private int value(int from, int to, boolean addElements, String advice) throws BadEventException {
        try (JsonParser parser = factory.createParser(text.bytes(), from, to - from)) {
            try {
                if (parser.nextToken() == null) {
                    throw text.problem(to, "no JSON document");
                }
                if (addElements) {
                    elements(parser, from);
                } else {
                    parser.skipChildren();
                }
                parser.finishToken();
                return text.trimBlank(from, offset(parser.currentLocation(), from)); // numbers take a blank along
            } catch (JsonProcessingException e) {
                JsonLocation location = e.getLocation() == null ? parser.currentLocation() : e.getLocation();
                int offset = Math.min(to, offset(location, from));
                throw text.problem(offset, "not valid JSON: " + reason(e) + advice);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void elements(JsonParser parser, int from) throws IOException, BadEventException {
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            int start = offset(parser.currentTokenLocation(), from);
            parser.skipChildren();
            parser.finishToken();
            add(start, offset(parser.currentLocation(), from));
        }
    }

    private void add(int from, int to) throws BadEventException {
        if (documents.size() == maxDocuments) {
            throw text.problem(from, "too many documents for one request: limit=" + maxDocuments);
        }
        documents.add(text.slice(from, to));
    }

    private void refuseMore(int end, int to) throws BadEventException {
        int more = text.skipBlank(end, to);
        if (more < to) {
            throw text.problem(more, "something follows the document; more than one document must be one per line");
        }
    }

    private static int offset(JsonLocation location, int from) {
        return from + (int) location.getByteOffset();
    }

    /** The library's words without what they quote of the source. */
    private static String reason(JsonProcessingException e) {
        return e.getOriginalMessage()
                .replaceAll("(?s) \\(start marker at .*", "")
                .replaceAll("token '[^']*'", "token");
    }
}
