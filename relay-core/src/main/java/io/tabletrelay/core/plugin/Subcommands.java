package io.tabletrelay.core.plugin;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Spliterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The subcommands that other jars bring. */
public final class Subcommands {
    private static final Logger log = LoggerFactory.getLogger(Subcommands.class);
    private static final int MAX_FAILURES = 100;

    private Subcommands() {}

    /** What all providers of the class loader offer; one that throws is logged and left out. */
    public static List<Object> load(ClassLoader loader) {
        List<Object> commands = new ArrayList<>();
        Spliterator<ServiceLoader.Provider<SubcommandProvider>> found =
                ServiceLoader.load(SubcommandProvider.class, loader).stream().spliterator();
        int failures = 0;
        boolean more = true;
        while (more && failures < MAX_FAILURES) {
            try {
                more = found.tryAdvance(provider -> commands.add(provider.get().command()));
            } catch (Throwable e) {
                failures++;
                log.warn("subcommand could not be loaded: error={}; the others are there", e.toString());
            }
        }
        return List.copyOf(commands);
    }
}
