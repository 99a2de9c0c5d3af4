package io.tabletrelay.core.client;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tabletrelay.api.tablet.Tablet;
import io.tabletrelay.api.tablet.TabletCodec;
import io.tabletrelay.api.tablet.TabletFamily;
import io.tabletrelay.api.tablet.TabletFormatException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.util.HexFormat;
import java.util.List;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Makes a payload readable: a tablet as one JSON object a row, text as it is, anything else in hexadecimal digits.
 *
 * <p>Dialect 1 does not say what a payload is; a tablet is told by its strict format, which no other payload meets by
 * chance, and its family as {@link TabletCodec} says.
 *
 * <p>Threading: thread-safe by its mapper and codecs.
 */
public final class PayloadPrinter {
    private final List<TabletCodec> tablets =
            List.of(new TabletCodec(TabletFamily.V2), new TabletCodec(TabletFamily.V1));
    private final ObjectMapper json = new ObjectMapper();

    /** Returns what to print, without a line end behind it. */
    public String print(ByteBuffer payload) {
        for (TabletCodec codec : tablets) {
            Tablet tablet = decoded(codec, payload);
            if (tablet != null) {
                return rows(tablet);
            }
        }
        return text(payload);
    }

    private static @Nullable Tablet decoded(TabletCodec codec, ByteBuffer payload) {
        try {
            return codec.decode(payload);
        } catch (TabletFormatException notOfThisFamily) {
            return null;
        }
    }

    private String rows(Tablet tablet) {
        StringJoiner lines = new StringJoiner("\n");
        for (Tablet.Row row : tablet.rows()) {
            ObjectNode line = json.createObjectNode();
            line.put("device", tablet.target());
            line.put("time", Instant.ofEpochMilli(row.time()).toString());
            List<@Nullable Object> values = row.values();
            for (int column = 0; column < values.size(); column++) {
                line.putPOJO(tablet.columns().get(column).name(), shown(values.get(column)));
            }
            lines.add(line.toString());
        }
        return lines.toString();
    }

    private static @Nullable Object shown(@Nullable Object value) {
        return value instanceof byte[] bytes
                ? HexFormat.of().formatHex(bytes)
                : value instanceof LocalDate date ? date.toString() : value;
    }

    private static String text(ByteBuffer payload) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(payload.duplicate())
                    .toString()
                    .stripTrailing();
        } catch (CharacterCodingException notText) {
            byte[] bytes = new byte[payload.remaining()];
            payload.duplicate().get(bytes);
            return HexFormat.of().formatHex(bytes);
        }
    }
}
