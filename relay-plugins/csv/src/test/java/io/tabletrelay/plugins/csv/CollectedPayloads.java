package io.tabletrelay.plugins.csv;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.serializer.PayloadSink;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

final class CollectedPayloads implements PayloadSink {
    final List<Payload> all = new ArrayList<>();

    @Override
    public void add(String contentType, Map<String, String> headers, ByteBuffer payload) {
        all.add(new Payload(contentType, headers, payload));
    }

    List<String> texts() {
        return all.stream()
                .map(payload -> StandardCharsets.UTF_8
                        .decode(payload.bytes().duplicate())
                        .toString())
                .toList();
    }
}
