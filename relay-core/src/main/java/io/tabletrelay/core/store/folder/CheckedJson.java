package io.tabletrelay.core.store.folder;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32C;

/** A small JSON file of one line whose last field is the checksum of the others. */
final class CheckedJson {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final String CHECK = "crc32c";
    private static final int MAX_BYTES = 1 << 16;

    private CheckedJson() {}

    static ObjectNode newObject() {
        return MAPPER.createObjectNode();
    }

    static byte[] encode(ObjectNode fields) {
        ObjectNode checked = fields.deepCopy();
        checked.remove(CHECK);
        CRC32C crc = new CRC32C();
        crc.update(bytes(checked));
        checked.put(CHECK, "%08x".formatted(crc.getValue()));
        return bytes(checked);
    }

    /** Throws IOException, with what is wrong as its message, for bytes that {@link #encode} would not write like that. */
    static ObjectNode read(Path file) throws IOException {
        long size = Files.size(file);
        if (size > MAX_BYTES) {
            throw new IOException("%d bytes are too many, the limit is %d".formatted(size, MAX_BYTES));
        }
        byte[] content = Files.readAllBytes(file);
        JsonNode node;
        try {
            node = MAPPER.readTree(content);
        } catch (JsonProcessingException e) {
            throw new IOException("it is not JSON", e);
        }
        if (!(node instanceof ObjectNode fields) || !Arrays.equals(encode(fields), content)) {
            throw new IOException("its checksum does not match");
        }
        return fields;
    }

    static String text(ObjectNode fields, String name) throws IOException {
        JsonNode value = fields.get(name);
        if (value == null || !value.isTextual()) {
            throw new IOException("it has no text '" + name + "'");
        }
        return value.textValue();
    }

    /** The texts of the object of that name, in their order; none if there is no such object. */
    static Map<String, String> texts(ObjectNode fields, String name) throws IOException {
        JsonNode object = fields.path(name);
        if (!object.isMissingNode() && !object.isObject()) {
            throw new IOException("its '" + name + "' is no object");
        }
        Map<String, String> texts = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            if (!member.getValue().isTextual()) {
                throw new IOException("its '" + name + "' has something that is no text");
            }
            texts.put(member.getKey(), member.getValue().textValue());
        }
        return texts;
    }

    static long number(ObjectNode fields, String name) throws IOException {
        JsonNode value = fields.get(name);
        if (value == null || !value.canConvertToLong()) {
            throw new IOException("it has no number '" + name + "'");
        }
        return value.longValue();
    }

    private static byte[] bytes(ObjectNode fields) {
        return (fields + "\n").getBytes(StandardCharsets.UTF_8);
    }
}
