package io.tabletrelay.harness.bench;

import io.tabletrelay.core.plugin.SubcommandProvider;

/** Adds {@code bench} to the command line. */
public final class BenchSubcommand implements SubcommandProvider {
    @Override
    public Object command() {
        return new BenchCommand();
    }
}
