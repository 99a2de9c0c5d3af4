package io.tabletrelay.core.plugin;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** The commands that jars on the class path add to the command line. */
public final class Subcommands {
    private Subcommands() {}

    /** Returns one command of each provider. */
    public static List<Object> load(ClassLoader loader) {
        List<Object> commands = new ArrayList<>();
        for (SubcommandProvider provider : ServiceLoader.load(SubcommandProvider.class, loader)) {
            commands.add(provider.command());
        }
        return commands;
    }
}
