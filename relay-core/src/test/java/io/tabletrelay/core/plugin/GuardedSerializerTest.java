package io.tabletrelay.core.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.EventSerializer;
import io.tabletrelay.api.serializer.PayloadSink;
import io.tabletrelay.api.serializer.SerializerContext;
import io.tabletrelay.api.serializer.SourceEvent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class GuardedSerializerTest {
    private static final PipeName PIPE = new PipeName("plant");
    private static final Logger LOG = (Logger) LoggerFactory.getLogger(GuardedSerializer.class);

    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final SerializerContext context = new SerializerContext(1000, 4096);

    @BeforeEach
    void listen() {
        logged.start();
        LOG.addAppender(logged);
        LOG.setAdditive(false);
    }

    @AfterEach
    void stopListening() {
        LOG.detachAppender(logged);
        LOG.setAdditive(true);
    }

    @Test
    void returnsThePayloadsInTheirOrder() {
        List<Payload> payloads = shared().serialize(event("abc", Map.of("count", "3")));

        assertThat(payloads).extracting(payload -> payload.headers().get("n")).containsExactly("0", "1", "2");
        assertThat(payloads).extracting(Payload::size).containsOnly(3);
    }

    @Test
    void aRefusalKeepsItsLineAndColumn() {
        EventRefusedException refused = refused(shared(), "refuse-at-line");

        assertThat(refused.code()).isEqualTo(ErrorCode.BAD_EVENT);
        assertThat(refused.line()).isEqualTo(3);
        assertThat(refused.column()).isEqualTo(7);
        assertThat(refused.byteOffset()).isNegative();
        assertThat(refused).hasMessage("event refused: pipe=plant, type=shared, problem=line 3, column 7: no comma");
        assertThat(logged.list).isEmpty();
    }

    @Test
    void aRefusalKeepsItsByteOffsetAndDropsWhatWasAddedBefore() {
        assertThat(refused(shared(), "refuse-at-byte").byteOffset()).isEqualTo(42);
        assertThat(refused(shared(), "refuse-after-adding").byteOffset()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"overflow", "link", "throw", "null"})
    void whateverIsThrownRefusesThatEventOnlyAndIsLoggedOnce(String what) {
        GuardedSerializer serializer = shared();

        EventRefusedException refused = refused(serializer, what);

        assertThat(refused.code()).isEqualTo(ErrorCode.BAD_EVENT);
        assertThat(refused.reason()).contains("pipe=plant", "type=shared").doesNotContain("secret");
        assertThat(logged.list).hasSize(1);
        assertThat(logged.list.get(0).getFormattedMessage()).contains("pipe=plant", "type=shared");
        assertThat(serializer.serialize(event("x", Map.of()))).hasSize(1);
    }

    @Test
    void anInstanceThatBrokeIsReplaced() {
        List<EventSerializer> made = new ArrayList<>();
        GuardedSerializer serializer = perPipe(made);
        assertThat(serializer.serialize(event("x", Map.of()))).hasSize(1);

        assertThat(refused(serializer, "throw").reason()).contains("broke");
        assertThat(refused(serializer, "refuse-at-line").line()).isEqualTo(3);
        assertThat(serializer.serialize(event("x", Map.of()))).hasSize(1);

        assertThat(made).hasSize(2);
    }

    @Test
    void eachPipeHasItsOwnInstance() {
        List<EventSerializer> made = new ArrayList<>();
        GuardedSerializer serializer = perPipe(made);

        for (String pipe : List.of("a", "b", "a", "b")) {
            SourceEvent event = new SourceEvent(new PipeName(pipe), ByteBuffer.allocate(1), Map.of());
            assertThat(serializer.serialize(event)).hasSize(1);
        }

        assertThat(made).hasSize(2);
    }

    @Test
    void aPayloadOverItsLimitIsTooLarge() {
        RelayException refused = tooLarge(Map.of(), 1001);

        assertThat(refused.reason()).contains("pipe=plant", "payloadBytes=1001", "limit=1000");
        assertThat(shared().serialize(event("x".repeat(1000), Map.of()))).hasSize(1);
    }

    @Test
    void tooManyPayloadsAreTooLarge() {
        RelayException refused = tooLarge(Map.of("count", "4097"), 1);

        assertThat(refused.reason()).contains("payloads=4097", "limit=4096");
        assertThat(shared().serialize(event("x", Map.of("count", "4096")))).hasSize(4096);
    }

    @Test
    void tooManyBytesInTotalAreTooLarge() {
        SerializerContext roomy = new SerializerContext(9 << 20, 4096);
        GuardedSerializer serializer = shared(roomy);
        String half = "x".repeat(8 << 20);

        RelayException refused = catchThrowableOfType(
                RelayException.class, () -> serializer.serialize(event(half + "x", Map.of("count", "2"))));

        assertThat(refused.code()).isEqualTo(ErrorCode.TOO_LARGE);
        assertThat(refused.reason()).contains("totalPayloadBytes=16777218", "limit=16777216");
        assertThat(serializer.serialize(event(half, Map.of("count", "2")))).hasSize(2);
    }

    @Test
    void aSerializerThatSwallowsTheLimitIsRefusedAllTheSame() {
        RelayException refused = catchThrowableOfType(
                RelayException.class, () -> shared().serialize(event("x", Map.of("do", "swallow"))));

        assertThat(refused.code()).isEqualTo(ErrorCode.TOO_LARGE);
    }

    @Test
    void theSinkIsOfNoUseAfterTheCall() {
        KeepsItsSink keeps = new KeepsItsSink();
        GuardedSerializer serializer = guarded(keeps, () -> keeps, context);

        List<Payload> payloads = serializer.serialize(event("x", Map.of()));

        assertThat(payloads).isEmpty();
        assertThat(catchThrowableOfType(
                        IllegalStateException.class, () -> keeps.kept.get(0).add("text/plain", ByteBuffer.allocate(1))))
                .isNotNull();
    }

    @Test
    void thePluginSeesItsOwnClassLoaderAndTheCallerGetsHisBack() {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        ClassLoader own = new ClassLoader(before) {
            @Override
            public String toString() {
                return "the plugin's";
            }
        };
        GuardedSerializer serializer = new GuardedSerializer(
                "shared", opened(new TestSerializers.Shared(), context), TestSerializers.Shared::new, own, context);

        Payload payload =
                serializer.serialize(event("x", Map.of("do", "loader"))).get(0);

        assertThat(StandardCharsets.UTF_8.decode(payload.bytes()).toString()).isEqualTo("the plugin's");
        assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(before);
    }

    private GuardedSerializer shared() {
        return shared(context);
    }

    private static GuardedSerializer shared(SerializerContext limits) {
        return guarded(opened(new TestSerializers.Shared(), limits), TestSerializers.Shared::new, limits);
    }

    private GuardedSerializer perPipe(List<EventSerializer> made) {
        return guarded(
                opened(new TestSerializers.PerPipe(), context),
                () -> {
                    EventSerializer next = new TestSerializers.PerPipe();
                    made.add(next);
                    return next;
                },
                context);
    }

    private static GuardedSerializer guarded(
            EventSerializer first, Supplier<EventSerializer> more, SerializerContext limits) {
        return new GuardedSerializer(
                first.sourceType(), first, more, GuardedSerializerTest.class.getClassLoader(), limits);
    }

    private static EventSerializer opened(EventSerializer serializer, SerializerContext limits) {
        serializer.open(limits);
        return serializer;
    }

    private static EventRefusedException refused(GuardedSerializer serializer, String what) {
        EventRefusedException refused = catchThrowableOfType(
                EventRefusedException.class, () -> serializer.serialize(event("x", Map.of("do", what))));
        assertThat(refused).isNotNull();
        return refused;
    }

    private RelayException tooLarge(Map<String, String> options, int bytes) {
        RelayException refused =
                catchThrowableOfType(RelayException.class, () -> shared().serialize(event("x".repeat(bytes), options)));
        assertThat(refused.code()).isEqualTo(ErrorCode.TOO_LARGE);
        return refused;
    }

    private static SourceEvent event(String text, Map<String, String> options) {
        return new SourceEvent(PIPE, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), options);
    }

    private static final class KeepsItsSink extends TestSerializers.Wrong {
        private final List<PayloadSink> kept = new ArrayList<>();

        @Override
        public void serialize(SourceEvent event, PayloadSink sink) {
            kept.add(sink);
        }
    }
}
