package io.tabletrelay.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.SourceEvent;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PipeSettingsTest {
    private static final PipeSettings V1 = new PipeSettings(Map.of("tablet-format", "v1"));
    private static final PipeSettings V2 = new PipeSettings(Map.of("tablet-format", "v2"));

    @Test
    void whatThereIsNotIsRefusedWithWhatThereIs() {
        assertThatThrownBy(() -> new PipeSettings(Map.of("tablet-fromat", "v1")))
                .isInstanceOfSatisfying(
                        RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_REQUEST))
                .hasMessage(
                        "no such pipe setting: setting=tablet-fromat; allowed=[block-timeout, durability, max-bytes, on-damage, retain, tablet-format, when-full]");
        assertThatThrownBy(() -> new PipeSettings(Map.of("tablet-format", "V1")))
                .isInstanceOfSatisfying(
                        RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_REQUEST))
                .hasMessage("no such value of a pipe setting: tablet-format=V1; allowed=[v1, v2]");
    }

    @Test
    void aDefaultMeansTheSameGivenOrNot() {
        assertThat(V2.meansTheSameAs(PipeSettings.NONE)).isTrue();
        assertThat(PipeSettings.NONE.meansTheSameAs(V2)).isTrue();
        assertThat(V1.meansTheSameAs(PipeSettings.NONE)).isFalse();
        assertThat(V1.meansTheSameAs(V1)).isTrue();
    }

    @Test
    void valuesThatMeanTheSameAreTheSame() {
        PipeSettings mebibytes = new PipeSettings(Map.of("max-bytes", "64MiB", "retain", "7d,1GiB"));
        PipeSettings bytes = new PipeSettings(Map.of("max-bytes", "67108864", "retain", "1024MiB,168h"));

        assertThat(mebibytes.meansTheSameAs(bytes)).isTrue();
        assertThat(mebibytes.meansTheSameAs(PipeSettings.NONE)).isFalse();
        assertThat(mebibytes.preparesEventsAs(PipeSettings.NONE)).isTrue();
        assertThat(V1.preparesEventsAs(PipeSettings.NONE)).isFalse();
    }

    @Test
    void whatIsChosenHoldsAndTheRestIsAsTheRelayHasIt() {
        StoreConfig relay = new StoreConfig(64 << 20, 1 << 20, 0, 7, 5);
        StoreConfig pipe = new PipeSettings(Map.of(
                        "durability", "disk",
                        "max-bytes", "8MiB",
                        "when-full", "drop-oldest",
                        "block-timeout", "5s",
                        "on-damage", "stop",
                        "retain", "50GiB"))
                .over(relay);

        assertThat(pipe)
                .isEqualTo(new StoreConfig(
                        2 << 20,
                        1 << 20,
                        8 << 20,
                        7,
                        5,
                        Durability.DISK,
                        CommitConfig.DEFAULT,
                        new FullConfig(WhenFull.DROP_OLDEST, Duration.ofSeconds(5)),
                        OnDamage.STOP,
                        new RetentionConfig(Duration.ZERO, 50L << 30)));
        assertThat(PipeSettings.NONE.over(relay)).isEqualTo(relay);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    durability    | fsync     | allowed=[disk, process]
                    max-bytes     | 1MiB      | it must be 4MiB or more, or 0 for no limit
                    max-bytes     | much      | not a size: 'much'; write it like 4096, 512MiB or 8GiB
                    when-full     | drop      | allowed=[block, drop-oldest, reject]
                    block-timeout | 5         | not a time: '5'; write it like 2ms, 30s, 10m, 12h or 7d
                    block-timeout | 0s        | block-timeout=0ms must be more than 0
                    on-damage     | none      | allowed=[skip, stop]
                    retain        | 7d,8d     | write it like acked, 7d, 50GiB or 7d,50GiB
                    retain        | 99999999999d | time is too long: '99999999999d'; write at most 999999999d
                    retain        | 1000000000h,1GiB | time is too long: '1000000000h'; write at most 999999999h
                    retain        | for ever  | not a size: 'for ever'; write it like 4096, 512MiB or 8GiB
                    """)
    void aValueThatIsNoneIsRefusedWithTheWayOut(String name, String value, String wayOut) {
        assertThatThrownBy(() -> new PipeSettings(Map.of(name, value)))
                .isInstanceOf(RelayException.class)
                .hasMessage("no such value of a pipe setting: " + name + "=" + value + "; " + wayOut);
    }

    @Test
    void theSerializerSeesTheSettingAmongTheOptions() {
        assertThat(V1.on(event(Map.of("rows", "2"))).options()).isEqualTo(Map.of("rows", "2", "tablet-format", "v1"));
        assertThat(V1.on(event(Map.of("tablet-format", "v1"))).options()).isEqualTo(Map.of("tablet-format", "v1"));
        assertThat(PipeSettings.NONE.on(event(Map.of("rows", "2"))).options()).isEqualTo(Map.of("rows", "2"));
        assertThat(PipeSettings.NONE.on(event(Map.of("tablet-format", "v2"))).options())
                .isEqualTo(Map.of("tablet-format", "v2"));
    }

    @Test
    void anOptionThatSaysOtherThanTheSettingIsRefusedByDefaultToo() {
        assertThatThrownBy(() -> V1.on(event(Map.of("tablet-format", "v2"))))
                .isInstanceOfSatisfying(
                        RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_EVENT))
                .hasMessage("event refused, its pipe has another setting: pipe=p, tablet-format=v2, setting=v1; leave"
                        + " that option out, or publish to a pipe made with it");
        assertThatThrownBy(() -> PipeSettings.NONE.on(event(Map.of("tablet-format", "v1"))))
                .hasMessageContaining("pipe=p, tablet-format=v1, setting=v2");
    }

    private static SourceEvent event(Map<String, String> options) {
        return new SourceEvent(new PipeName("p"), ByteBuffer.allocate(0), options);
    }
}
