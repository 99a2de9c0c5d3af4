package io.tabletrelay.core.plugin;

import io.tabletrelay.api.serializer.BadEventException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.PayloadSink;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.api.serializer.SourceEvent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Serializers that do what they are told by their input's options, and providers that are wrong in one way each. */
public final class TestSerializers {
    private TestSerializers() {}

    /** What a test serializer does with one event; {@code option do} says it. */
    public abstract static class Obedient implements EventSerializer {
        private final AtomicInteger inside = new AtomicInteger();
        private boolean open;

        @Override
        public int spiVersion() {
            return SPI_VERSION;
        }

        @Override
        public void open(SerializerContext context) {
            open = true;
        }

        @Override
        public void serialize(SourceEvent event, PayloadSink sink) throws BadEventException {
            if (!open) {
                throw new IllegalStateException("not open");
            }
            if (inside.incrementAndGet() > 1 && !threadSafe()) {
                throw new IllegalStateException("two threads at once");
            }
            try {
                obey(event, sink);
            } finally {
                inside.decrementAndGet();
            }
        }

        @SuppressWarnings("ThreadPriorityCheck") // to let others overtake, if they can
        private void obey(SourceEvent event, PayloadSink sink) throws BadEventException {
            int count = Integer.parseInt(event.option("count", "1"));
            switch (event.option("do", "echo")) {
                case "nothing" -> {}
                case "refuse-at-line" -> throw BadEventException.atLine(3, 7, "no comma");
                case "refuse-at-byte" -> throw BadEventException.atByte(42, "cut off");
                case "refuse-after-adding" -> {
                    sink.add("text/plain", event.bytes());
                    throw BadEventException.atByte(0, "changed my mind");
                }
                case "overflow" -> overflow(0);
                case "link" -> throw new NoClassDefFoundError("com/example/Missing");
                case "throw" -> throw new IllegalStateException("secret details");
                case "null" -> addNull(sink);
                case "swallow" -> swallow(event, sink);
                case "yield" -> {
                    for (int i = 0; i < event.bytes().get(0); i++) {
                        Thread.yield();
                    }
                    sink.add("text/plain", event.bytes());
                }
                case "tell-format" ->
                    sink.add(
                            "text/plain",
                            ByteBuffer.wrap(
                                    event.option("tablet-format", "none").getBytes(StandardCharsets.UTF_8)));
                case "loader" -> sink.add("text/plain", nameOfLoader());
                default -> {
                    for (int i = 0; i < count; i++) {
                        sink.add(
                                "text/plain",
                                Map.of("n", String.valueOf(i)),
                                event.bytes().duplicate());
                    }
                }
            }
        }

        private static int overflow(int depth) {
            return depth < 0 ? depth : overflow(depth + 1) + 1;
        }

        @SuppressWarnings("NullAway") // a plugin may do this
        private static void addNull(PayloadSink sink) {
            sink.add(null, ByteBuffer.allocate(1));
        }

        private static void swallow(SourceEvent event, PayloadSink sink) {
            try {
                sink.add("text/plain", ByteBuffer.allocate(1 << 20));
            } catch (RuntimeException e) {
                // that is what is wrong with this one
            }
            event.bytes().position(event.bytes().limit());
        }

        private static ByteBuffer nameOfLoader() {
            String name = String.valueOf(Thread.currentThread().getContextClassLoader());
            return ByteBuffer.wrap(name.getBytes(StandardCharsets.UTF_8));
        }
    }

    public static final class Shared extends Obedient {
        @Override
        public String sourceType() {
            return "shared";
        }

        @Override
        public boolean threadSafe() {
            return true;
        }
    }

    public static final class PerPipe extends Obedient {
        @Override
        public String sourceType() {
            return "per-pipe";
        }

        @Override
        public boolean threadSafe() {
            return false;
        }
    }

    public static final class AlsoShared extends Wrong {
        @Override
        public String sourceType() {
            return "shared";
        }
    }

    public static final class Blank extends Wrong {
        @Override
        public String sourceType() {
            return " ";
        }
    }

    public static final class Nameless extends Wrong {
        @Override
        @SuppressWarnings("NullAway") // a plugin may do this
        public String sourceType() {
            return null;
        }
    }

    public static final class FromTheFuture extends Wrong {
        @Override
        public int spiVersion() {
            return SPI_VERSION + 1;
        }
    }

    public static final class BrokenConstructor extends Wrong {
        public BrokenConstructor() {
            throw new UnsatisfiedLinkError("no such library");
        }
    }

    public static final class BrokenOpen extends Wrong {
        @Override
        public void open(SerializerContext context) {
            throw new StackOverflowError("deep");
        }
    }

    public static final class BrokenClose extends Wrong {
        @Override
        public void close() {
            throw new AssertionError("will not close");
        }
    }

    /** Right in all, until a subclass gets one thing wrong. */
    public abstract static class Wrong implements EventSerializer {
        @Override
        public int spiVersion() {
            return SPI_VERSION;
        }

        @Override
        public String sourceType() {
            return "wrong";
        }

        @Override
        public boolean threadSafe() {
            return true;
        }

        @Override
        public void serialize(SourceEvent event, PayloadSink sink) {}
    }
}
