package io.tabletrelay.core.plugin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Class loaders that offer the providers a test wants. */
public final class Providers {
    private Providers() {}

    /** Offers these classes, in this order, as providers of the service. */
    public static ClassLoader of(Path folder, Class<?> service, Class<?>... providers) {
        return ofNames(
                folder, service, List.of(providers).stream().map(Class::getName).toArray(String[]::new));
    }

    static ClassLoader ofNames(Path folder, Class<?> service, String... lines) {
        try {
            Path services = Files.createDirectories(folder.resolve("META-INF/services"));
            Files.write(services.resolve(service.getName()), List.of(lines));
            return new OnlyOwnServices(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Classes as everywhere; service files from the folder only. */
    private static final class OnlyOwnServices extends URLClassLoader {
        OnlyOwnServices(Path folder) throws MalformedURLException {
            super(new URL[] {folder.toUri().toURL()}, Providers.class.getClassLoader());
        }

        @Override
        public java.util.Enumeration<URL> getResources(String name) throws IOException {
            return findResources(name);
        }
    }
}
