package io.tabletrelay.plugins.iotdbtablet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.apache.tsfile.enums.TSDataType;
import org.apache.tsfile.utils.Binary;
import org.apache.tsfile.write.record.Tablet;
import org.apache.tsfile.write.schema.IMeasurementSchema;
import org.apache.tsfile.write.schema.MeasurementSchema;
import org.jspecify.annotations.Nullable;

/** IoTDB's own writer, as a function of the columns' types and the rows, see {@link TsFileReader}. */
public final class TsFileWriter implements BiFunction<List<String>, List<List<@Nullable Object>>, byte[]> {
    @Override
    public byte[] apply(List<String> types, List<List<@Nullable Object>> rows) {
        List<IMeasurementSchema> schemas = new ArrayList<>();
        for (int column = 0; column < types.size(); column++) {
            schemas.add(new MeasurementSchema("s" + column, TSDataType.valueOf(types.get(column))));
        }
        Tablet tablet = new Tablet("root.sg.d1", schemas, rows.size() + 3);
        for (int row = 0; row < rows.size(); row++) {
            tablet.addTimestamp(row, (Long) rows.get(row).get(0));
            for (int column = 0; column < types.size(); column++) {
                tablet.addValue("s" + column, row, boxed(rows.get(row).get(column + 1)));
            }
        }
        try {
            ByteBuffer bytes = tablet.serialize();
            byte[] copy = new byte[bytes.remaining()];
            bytes.get(copy);
            return copy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable Object boxed(@Nullable Object value) {
        return value instanceof byte[] bytes ? new Binary(bytes) : value;
    }
}
