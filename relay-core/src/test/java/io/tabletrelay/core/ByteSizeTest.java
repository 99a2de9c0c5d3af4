package io.tabletrelay.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({"0,0", "4096,4096", "1KiB,1024", "3 mib,3145728", "8GiB,8589934592"})
    void readsSizes(String text, long bytes) {
        assertThat(new ByteSize().convert(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "1.5GiB", "5 apples", "99999999999TiB"})
    void refusesWhatIsNotASize(String text) {
        assertThatThrownBy(() -> new ByteSize().convert(text)).hasMessageContaining("'" + text + "'");
    }
}
