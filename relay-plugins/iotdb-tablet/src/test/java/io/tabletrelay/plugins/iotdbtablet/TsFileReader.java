package io.tabletrelay.plugins.iotdbtablet;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.tsfile.utils.Binary;
import org.apache.tsfile.write.record.Tablet;
import org.jspecify.annotations.Nullable;

/**
 * IoTDB's own reader, as a function of JDK types only: it is loaded once per version of the library. A row is its time,
 * then its values, binary ones as {@code byte[]}.
 */
public final class TsFileReader implements Function<byte[], List<List<@Nullable Object>>> {
    @Override
    public List<List<@Nullable Object>> apply(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        Tablet tablet = Tablet.deserialize(buffer);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException("bytes left over: " + buffer.remaining());
        }
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (int row = 0; row < tablet.getRowSize(); row++) {
            List<@Nullable Object> cells = new ArrayList<>();
            cells.add(tablet.getTimestamp(row));
            for (int column = 0; column < tablet.getSchemas().size(); column++) {
                cells.add(tablet.isNull(row, column) ? null : plain(tablet.getValue(row, column)));
            }
            rows.add(cells);
        }
        return rows;
    }

    private static Object plain(Object value) {
        return value instanceof Binary binary ? binary.getValues() : value;
    }
}
