package io.tabletrelay.plugins.iotdbtablet;

import java.io.IOException;
import java.lang.reflect.Array;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A library of family v1, called by reflection: its classes have the names of the newer ones, or moved since. */
final class FormerTsFileLibrary implements TsFileLibrary {
    private final URLClassLoader loader;
    private final Class<?> tabletClass;
    private final Class<?> schemaClass;
    private final Class<?> typeClass;
    private final Class<?> binaryClass;

    /**
     * @param root the package that all classes are below
     * @param types the package of the types, in the root
     */
    FormerTsFileLibrary(String version, String root, String types) throws IOException, ClassNotFoundException {
        loader = TsFileLibrary.loader(version);
        tabletClass = loader.loadClass(root + ".write.record.Tablet");
        schemaClass = loader.loadClass(root + ".write.schema.MeasurementSchema");
        typeClass = loader.loadClass(root + types + ".TSDataType");
        binaryClass = loader.loadClass(root + ".utils.Binary");
    }

    @Override
    public List<List<@Nullable Object>> read(byte[] bytes) throws ReflectiveOperationException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        Object tablet = tabletClass.getMethod("deserialize", ByteBuffer.class).invoke(null, buffer);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException("bytes left over: " + buffer.remaining());
        }
        Object[] bitMaps = (Object[]) field(tablet, "bitMaps");
        Object[] values = (Object[]) field(tablet, "values");
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (int row = 0; row < (Integer) field(tablet, "rowSize"); row++) {
            List<@Nullable Object> cells = new ArrayList<>();
            cells.add(Array.get(field(tablet, "timestamps"), row));
            for (int column = 0; column < values.length; column++) {
                cells.add(isMarked(bitMaps[column], row) ? null : plain(Array.get(values[column], row)));
            }
            rows.add(cells);
        }
        return rows;
    }

    @Override
    public byte[] write(List<String> types, List<List<@Nullable Object>> rows) throws ReflectiveOperationException {
        List<Object> schemas = new ArrayList<>();
        for (int column = 0; column < types.size(); column++) {
            Object type = typeClass.getMethod("valueOf", String.class).invoke(null, types.get(column));
            schemas.add(schemaClass.getConstructor(String.class, typeClass).newInstance("s" + column, type));
        }
        Object tablet = tabletClass
                .getConstructor(String.class, List.class, int.class)
                .newInstance("root.sg.d1", schemas, rows.size() + 3);
        for (int row = 0; row < rows.size(); row++) {
            tabletClass
                    .getMethod("addTimestamp", int.class, long.class)
                    .invoke(tablet, row, rows.get(row).get(0));
            for (int column = 0; column < types.size(); column++) {
                tabletClass
                        .getMethod("addValue", String.class, int.class, Object.class)
                        .invoke(tablet, "s" + column, row, boxed(rows.get(row).get(column + 1)));
            }
        }
        tabletClass.getField("rowSize").setInt(tablet, rows.size());
        ByteBuffer bytes = (ByteBuffer) tabletClass.getMethod("serialize").invoke(tablet);
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return copy;
    }

    private Object field(Object tablet, String name) throws ReflectiveOperationException {
        return tabletClass.getField(name).get(tablet);
    }

    private static boolean isMarked(@Nullable Object bitMap, int row) throws ReflectiveOperationException {
        return bitMap != null
                && (Boolean) bitMap.getClass().getMethod("isMarked", int.class).invoke(bitMap, row);
    }

    private Object plain(Object value) throws ReflectiveOperationException {
        return binaryClass.isInstance(value)
                ? binaryClass.getMethod("getValues").invoke(value)
                : value;
    }

    private @Nullable Object boxed(@Nullable Object value) throws ReflectiveOperationException {
        return value instanceof byte[] bytes
                ? binaryClass.getConstructor(byte[].class).newInstance((Object) bytes)
                : value;
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }
}
