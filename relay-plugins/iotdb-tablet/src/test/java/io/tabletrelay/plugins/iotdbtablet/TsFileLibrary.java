package io.tabletrelay.plugins.iotdbtablet;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One version of IoTDB's library, in a class loader that sees nothing of this project but the two classes that use it. */
final class TsFileLibrary implements AutoCloseable {
    private final URLClassLoader loader;

    TsFileLibrary(String version) throws IOException {
        List<URL> path = new ArrayList<>();
        path.add(Path.of("target", "test-classes").toUri().toURL());
        try (Stream<Path> jars = Files.list(Path.of("target", "tsfile-" + version))) {
            for (Path jar : jars.toList()) {
                path.add(url(jar));
            }
        }
        loader =
                new URLClassLoader("tsfile-" + version, path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    @SuppressWarnings("unchecked")
    List<List<@Nullable Object>> read(byte[] bytes) throws ReflectiveOperationException {
        return ((Function<byte[], List<List<@Nullable Object>>>) create(TsFileReader.class)).apply(bytes);
    }

    @SuppressWarnings("unchecked")
    byte[] write(List<String> types, List<List<@Nullable Object>> rows) throws ReflectiveOperationException {
        return ((BiFunction<List<String>, List<List<@Nullable Object>>, byte[]>) create(TsFileWriter.class))
                .apply(types, rows);
    }

    private Object create(Class<?> type) throws ReflectiveOperationException {
        return loader.loadClass(type.getName()).getConstructor().newInstance();
    }

    private static URL url(Path file) throws MalformedURLException {
        return file.toUri().toURL();
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }
}
