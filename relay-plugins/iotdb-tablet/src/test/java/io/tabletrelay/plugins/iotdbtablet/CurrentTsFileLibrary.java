package io.tabletrelay.plugins.iotdbtablet;

import java.io.IOException;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A library of family v2; its class loader also sees the two classes that use it. */
final class CurrentTsFileLibrary implements TsFileLibrary {
    private final URLClassLoader loader;

    CurrentTsFileLibrary(String version) throws IOException {
        loader = TsFileLibrary.loader(version, Path.of("target", "test-classes"));
    }

    @Override
    @SuppressWarnings("unchecked")
    public List<List<@Nullable Object>> read(byte[] bytes) throws ReflectiveOperationException {
        return ((Function<byte[], List<List<@Nullable Object>>>) create(TsFileReader.class)).apply(bytes);
    }

    @Override
    @SuppressWarnings("unchecked")
    public byte[] write(List<String> types, List<List<@Nullable Object>> rows) throws ReflectiveOperationException {
        return ((BiFunction<List<String>, List<List<@Nullable Object>>, byte[]>) create(TsFileWriter.class))
                .apply(types, rows);
    }

    private Object create(Class<?> type) throws ReflectiveOperationException {
        return loader.loadClass(type.getName()).getConstructor().newInstance();
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }
}
