package io.tabletrelay.core.plugin;

/** Adds a command to the command line. Found by {@link java.util.ServiceLoader}. */
public interface SubcommandProvider {
    /** Returns a picocli command. */
    Object command();
}
