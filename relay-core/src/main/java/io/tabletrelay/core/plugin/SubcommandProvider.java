package io.tabletrelay.core.plugin;

/**
 * Adds a subcommand to the launcher from another jar, found by {@link java.util.ServiceLoader}.
 *
 * <p>Threading: used once, by the main thread.
 */
public interface SubcommandProvider {
    /** An object with the command line library's annotations. */
    Object command();
}
