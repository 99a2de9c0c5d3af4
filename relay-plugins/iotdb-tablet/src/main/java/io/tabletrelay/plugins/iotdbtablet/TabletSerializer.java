package io.tabletrelay.plugins.iotdbtablet;

import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.PayloadSink;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.api.tablet.TabletCodec;
import io.tabletrelay.api.tablet.TabletFormatException;
import java.nio.ByteBuffer;

/**
 * The bytes of {@code Tablet.serialize()} become one payload of the same bytes, once a full parse has found them whole.
 * Consumers that cannot read a tablet stop there, so what is no tablet, or one of IoTDB 1.x, is refused at the door.
 *
 * <p>Threading: immutable.
 */
public final class TabletSerializer implements EventSerializer {
    private final TabletCodec codec = new TabletCodec();

    @Override
    public int spiVersion() {
        return SPI_VERSION;
    }

    @Override
    public String sourceType() {
        return "iotdb-tablet";
    }

    @Override
    public boolean threadSafe() {
        return true;
    }

    @Override
    public void serialize(SourceEvent event, PayloadSink sink) throws BadEventException {
        ByteBuffer bytes = event.bytes().slice();
        try {
            codec.decode(bytes);
        } catch (TabletFormatException e) {
            throw BadEventException.atByte(e.byteOffset(), e.problem());
        }
        sink.add(TabletCodec.CONTENT_TYPE, bytes);
    }
}
