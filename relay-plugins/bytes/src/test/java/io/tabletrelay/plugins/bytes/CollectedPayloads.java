package io.tabletrelay.plugins.bytes;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.serializer.PayloadSink;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

final class CollectedPayloads implements PayloadSink {
    final List<Payload> all = new ArrayList<>();

    @Override
    public void add(String contentType, Map<String, String> headers, ByteBuffer payload) {
        all.add(new Payload(contentType, headers, payload));
    }
}
