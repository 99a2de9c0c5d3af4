package io.tabletrelay.core.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class SubcommandsTest {
    @TempDir
    Path folder;

    @Test
    void aBrokenProviderIsLeftOutAndTheOthersAreThere() {
        ClassLoader loader = Providers.of(folder, SubcommandProvider.class, Broken.class, Good.class);
        Logger log = (Logger) LoggerFactory.getLogger(Subcommands.class);
        log.setLevel(Level.OFF);

        var commands = Subcommands.load(loader);

        assertThat(commands).containsExactly("bench");
        log.setLevel(null);
    }

    public static final class Good implements SubcommandProvider {
        @Override
        public Object command() {
            return "bench";
        }
    }

    public static final class Broken implements SubcommandProvider {
        @Override
        public Object command() {
            throw new NoClassDefFoundError("com/example/Missing");
        }
    }
}
