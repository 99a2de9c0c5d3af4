package io.tabletrelay.core;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * What an option is when it is not given: {@code RELAY_WS_PORT} for {@code --ws-port}, and so on. A variable that is set
 * to nothing counts as not set.
 *
 * <p>Threading: immutable.
 */
final class EnvironmentDefaults implements IDefaultValueProvider {
    private final Map<String, String> environment;

    EnvironmentDefaults(Map<String, String> environment) {
        this.environment = Map.copyOf(environment);
    }

    @Override
    public @Nullable String defaultValue(ArgSpec argument) {
        if (!(argument instanceof OptionSpec option) || option.usageHelp() || option.versionHelp()) {
            return null;
        }
        String value = environment.get(variable(option.longestName()));
        return value == null || value.isBlank() ? null : value;
    }

    private static String variable(String optionName) {
        return "RELAY_" + optionName.substring(2).replace('-', '_').toUpperCase(Locale.ROOT);
    }
}
