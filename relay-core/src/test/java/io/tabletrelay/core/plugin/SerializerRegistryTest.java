package io.tabletrelay.core.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.SerializerContext;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

class SerializerRegistryTest {
    private static final SerializerContext CONTEXT = new SerializerContext(1024, 10);
    private static final Logger LOG = (Logger) LoggerFactory.getLogger("io.tabletrelay.core.plugin");

    @TempDir
    Path folder;

    @BeforeEach
    void refusalsAreExpectedHere() {
        LOG.setLevel(Level.OFF);
    }

    @AfterEach
    void logAgain() {
        LOG.setLevel(null);
    }

    @Test
    void findsWhatTheClassLoaderHasAndSortsIt() {
        try (SerializerRegistry registry = load(TestSerializers.Shared.class, TestSerializers.PerPipe.class)) {
            assertThat(registry.available()).containsExactly("per-pipe", "shared");
            assertThat(registry.plugins()).allMatch(PluginDescriptor::inUse);
            assertThat(registry.plugins().get(0).location()).startsWith("file:").contains("test-classes");
            assertThat(registry.plugins().get(0).version()).isEqualTo("unknown");
        }
    }

    @Test
    void anUnknownTypeIsToldWithTheKnownOnes() {
        try (SerializerRegistry registry = load(TestSerializers.Shared.class, TestSerializers.PerPipe.class)) {
            assertThatThrownBy(() -> registry.serializer("avro"))
                    .isInstanceOfSatisfying(
                            RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SERIALIZER))
                    .hasMessage("no serializer named 'avro': available=[per-pipe, shared]");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "AlsoShared, taken by another plugin",
        "Blank, its type ' ' is not made of",
        "Nameless, its type '' is not made of",
        "FromTheFuture, it was made for spi version 2",
        "BrokenConstructor, UnsatisfiedLinkError: no such library",
        "BrokenOpen, StackOverflowError: deep",
    })
    void aWrongProviderIsRefusedAndTheOthersLoad(String wrong, String reason) {
        String outer = TestSerializers.class.getName();

        SerializerRegistry registry = loadNames(outer + "$Shared", outer + "$" + wrong, outer + "$PerPipe");

        assertThat(registry.available()).containsExactly("per-pipe", "shared");
        assertThat(registry.plugins()).hasSize(3);
        PluginDescriptor refused = registry.plugins().get(1);
        assertThat(refused.className()).isEqualTo(outer + "$" + wrong);
        assertThat(refused.location()).contains("test-classes");
        assertThat(refused.refusal()).contains(reason);
        registry.close();
    }

    @ParameterizedTest
    @CsvSource({"com.example.DoesNotExist, not found", "io.tabletrelay.core.plugin.Providers, not a subtype"})
    void anEntryThatIsNoSerializerIsRefusedAndTheOthersLoad(String wrong, String reason) {
        String good = TestSerializers.Shared.class.getName();

        try (SerializerRegistry registry = loadNames(wrong, good)) {
            assertThat(registry.available()).containsExactly("shared");
            assertThat(registry.plugins().get(0).refusal()).contains(reason);
        }
    }

    @Test
    void aServiceFileThatIsNoneEndsTheSearch() {
        try (SerializerRegistry registry = loadNames("this is ! no class name")) {
            assertThat(registry.available()).isEmpty();
            assertThat(registry.plugins()).hasSize(1);
            assertThat(registry.plugins().get(0).refusal()).contains("Illegal");
        }
    }

    @Test
    void aSerializerThatDoesNotCloseDoesNotStopTheOthers() {
        SerializerRegistry registry = load(TestSerializers.BrokenClose.class, TestSerializers.Shared.class);

        registry.close();

        assertThat(registry.available()).containsExactly("shared", "wrong");
    }

    @Test
    void theVersionComesFromTheJarsManifest() throws IOException {
        Path jar = folder.resolve("shared-1.2.3.jar");
        String outer = TestSerializers.class.getName();
        writeJar(jar, "1.2.3", outer + "$Shared", outer + "$Obedient");

        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, new Hiding(outer));
                SerializerRegistry registry = SerializerRegistry.load(loader, CONTEXT)) {
            assertThat(registry.plugins()).anySatisfy(plugin -> {
                assertThat(plugin.version()).isEqualTo("1.2.3");
                assertThat(plugin.location()).endsWith("shared-1.2.3.jar");
                assertThat(plugin.inUse()).isTrue();
            });
        }
    }

    private SerializerRegistry load(Class<?>... providers) {
        return SerializerRegistry.load(Providers.of(folder, EventSerializer.class, providers), CONTEXT);
    }

    private SerializerRegistry loadNames(String... lines) {
        return SerializerRegistry.load(Providers.ofNames(folder, EventSerializer.class, lines), CONTEXT);
    }

    private static void writeJar(Path jar, String version, String service, String... more) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, version);
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            out.putNextEntry(new JarEntry("META-INF/services/" + EventSerializer.class.getName()));
            out.write(service.getBytes(StandardCharsets.UTF_8));
            writeClass(out, service);
            for (String name : more) {
                writeClass(out, name);
            }
        }
    }

    private static void writeClass(JarOutputStream out, String name) throws IOException {
        String path = name.replace('.', '/') + ".class";
        out.putNextEntry(new JarEntry(path));
        try (InputStream in = SerializerRegistryTest.class.getClassLoader().getResourceAsStream(path)) {
            assertThat(in).isNotNull();
            in.transferTo(out);
        }
    }

    /** The test's class loader without some classes, so that a jar may have them. */
    private static final class Hiding extends ClassLoader {
        private final String prefix;

        Hiding(String prefix) {
            super(Hiding.class.getClassLoader());
            this.prefix = prefix;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith(prefix)) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }
    }
}
