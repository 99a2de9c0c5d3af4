package io.tabletrelay.harness.demo;

import io.tabletrelay.core.plugin.SubcommandProvider;

/** Adds {@code demo} to the command line. */
public final class DemoSubcommand implements SubcommandProvider {
    @Override
    public Object command() {
        return new DemoCommand();
    }
}
