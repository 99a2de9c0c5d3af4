package io.tabletrelay.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.SourceEvent;
import java.nio.ByteBuffer;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PipeSettingsTest {
    private static final PipeSettings V1 = new PipeSettings(Map.of("tablet-format", "v1"));
    private static final PipeSettings V2 = new PipeSettings(Map.of("tablet-format", "v2"));

    @Test
    void whatThereIsNotIsRefusedWithWhatThereIs() {
        assertThatThrownBy(() -> new PipeSettings(Map.of("tablet-fromat", "v1")))
                .isInstanceOfSatisfying(
                        RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_REQUEST))
                .hasMessage("no such pipe setting: setting=tablet-fromat; allowed={tablet-format=[v2, v1]}");
        assertThatThrownBy(() -> new PipeSettings(Map.of("tablet-format", "V1")))
                .isInstanceOfSatisfying(
                        RelayException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_REQUEST))
                .hasMessage("no such value of a pipe setting: tablet-format=V1; allowed={tablet-format=[v2, v1]}");
    }

    @Test
    void aDefaultMeansTheSameGivenOrNot() {
        assertThat(V2.meansTheSameAs(PipeSettings.NONE)).isTrue();
        assertThat(PipeSettings.NONE.meansTheSameAs(V2)).isTrue();
        assertThat(V1.meansTheSameAs(PipeSettings.NONE)).isFalse();
        assertThat(V1.meansTheSameAs(V1)).isTrue();
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
