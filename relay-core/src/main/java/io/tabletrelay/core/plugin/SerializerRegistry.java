package io.tabletrelay.core.plugin;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.SerializerContext;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Spliterator;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The serializers of this relay by source type. What is wrong with one keeps out that one, not the others.
 *
 * <p>Threading: thread-safe once loaded, since nothing is added later.
 */
public final class SerializerRegistry implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SerializerRegistry.class);
    private static final Pattern SOURCE_TYPE = Pattern.compile("[a-z0-9][a-z0-9-]*");
    /** A broken class path may fail for ever; each entry that is wrong fails once. */
    private static final int MAX_FAILURES_IN_A_ROW = 100;

    private final TreeMap<String, GuardedSerializer> serializers = new TreeMap<>();
    private final List<PluginDescriptor> plugins = new ArrayList<>();
    private final SerializerContext context;

    private SerializerRegistry(SerializerContext context) {
        this.context = context;
    }

    /** Finds, checks and opens every serializer that the class loader has. */
    public static SerializerRegistry load(ClassLoader loader, SerializerContext context) {
        SerializerRegistry registry = new SerializerRegistry(context);
        Spliterator<ServiceLoader.Provider<EventSerializer>> found =
                ServiceLoader.load(EventSerializer.class, loader).stream().spliterator();
        int failuresInARow = 0;
        boolean more = true;
        while (more && failuresInARow < MAX_FAILURES_IN_A_ROW) {
            try {
                more = found.tryAdvance(registry::add);
                failuresInARow = 0;
            } catch (Throwable e) {
                failuresInARow++;
                registry.refuse(PluginDescriptor.unloadable(reasonOf(e)));
            }
        }
        return registry;
    }

    /** The source types there are, sorted. */
    public List<String> available() {
        return List.copyOf(serializers.keySet());
    }

    /** Everything that was found, in the order in which it was, refused ones too. */
    public List<PluginDescriptor> plugins() {
        return List.copyOf(plugins);
    }

    /** Throws {@link RelayException} with {@link ErrorCode#NO_SERIALIZER} if there is none of that type. */
    public GuardedSerializer serializer(String sourceType) {
        GuardedSerializer serializer = serializers.get(sourceType);
        if (serializer == null) {
            throw new RelayException(
                    ErrorCode.NO_SERIALIZER, "no serializer named '" + sourceType + "': available=" + available());
        }
        return serializer;
    }

    /** Closes every serializer; nobody may serialize any more. */
    @Override
    public void close() {
        serializers.values().forEach(GuardedSerializer::close);
    }

    private void add(ServiceLoader.Provider<EventSerializer> provider) {
        PluginDescriptor plugin = PluginDescriptor.of(provider.type());
        try {
            EventSerializer serializer = provider.get();
            String sourceType = serializer.sourceType();
            plugin = plugin.named(sourceType == null ? "" : sourceType);
            String refusal = whatIsWrong(plugin.sourceType(), serializer.spiVersion());
            if (!refusal.isEmpty()) {
                refuse(plugin.refused(refusal));
                return;
            }
            serializer.open(context);
            ClassLoader loader = provider.type().getClassLoader();
            serializers.put(sourceType, new GuardedSerializer(sourceType, serializer, provider, loader, context));
            plugins.add(plugin);
            log.info(
                    "serializer loaded: type={}, class={}, version={}, location={}",
                    sourceType,
                    plugin.className(),
                    plugin.version(),
                    plugin.location());
        } catch (Throwable e) {
            refuse(plugin.refused(reasonOf(e)));
        }
    }

    private String whatIsWrong(String sourceType, int spiVersion) {
        if (!SOURCE_TYPE.matcher(sourceType).matches()) {
            return "its type '" + sourceType + "' is not made of lower-case letters, digits and dashes";
        }
        if (spiVersion != EventSerializer.SPI_VERSION) {
            return "it was made for spi version " + spiVersion + ", this relay has " + EventSerializer.SPI_VERSION;
        }
        if (serializers.containsKey(sourceType)) {
            return "its type '" + sourceType + "' is taken by another plugin";
        }
        return "";
    }

    private void refuse(PluginDescriptor plugin) {
        plugins.add(plugin);
        log.error(
                "serializer refused: type={}, class={}, version={}, location={}, reason={}; the others are used",
                plugin.sourceType(),
                plugin.className(),
                plugin.version(),
                plugin.location(),
                plugin.refusal());
    }

    /** The innermost failure: a ServiceConfigurationError only says that something went wrong inside. */
    private static String reasonOf(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null
                ? cause.getClass().getSimpleName()
                : cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }
}
