package io.tabletrelay.plugins.iotdbtablet;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One version of IoTDB's library, in a class loader of its own. A row is its time, then its values, binary ones as
 * {@code byte[]}.
 */
interface TsFileLibrary extends AutoCloseable {
    List<List<@Nullable Object>> read(byte[] bytes) throws ReflectiveOperationException;

    byte[] write(List<String> types, List<List<@Nullable Object>> rows) throws ReflectiveOperationException;

    @Override
    void close() throws IOException;

    /** A loader of that version's jars and of the given further places; it sees nothing else of this project. */
    static URLClassLoader loader(String version, Path... more) throws IOException {
        List<URL> path = new ArrayList<>();
        for (Path place : more) {
            path.add(place.toUri().toURL());
        }
        try (Stream<Path> jars = Files.list(Path.of("target", "tsfile-" + version))) {
            for (Path jar : jars.toList()) {
                path.add(jar.toUri().toURL());
            }
        }
        return new URLClassLoader("tsfile-" + version, path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }
}
