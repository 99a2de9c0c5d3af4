package io.tabletrelay.plugins.iotdbtablet;

import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.PayloadSink;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.api.tablet.TabletCodec;
import io.tabletrelay.api.tablet.TabletFamily;
import io.tabletrelay.api.tablet.TabletFormatException;
import java.nio.ByteBuffer;

/**
 * The bytes of {@code Tablet.serialize()} become one payload of the same bytes, once a full parse has found them whole.
 * Consumers that cannot read a tablet stop there, so what is no tablet, or one of the family that the option
 * {@value TabletFamily#OPTION} does not name, is refused at the door.
 *
 * <p>Threading: immutable.
 */
public final class TabletSerializer implements EventSerializer {
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
        TabletFamily family = TabletFamily.of(event);
        ByteBuffer bytes = event.bytes().slice();
        try {
            new TabletCodec(family).decode(bytes);
        } catch (TabletFormatException e) {
            throw BadEventException.atByte(e.byteOffset(), e.problem());
        }
        sink.add(family.contentType(), bytes);
    }
}
