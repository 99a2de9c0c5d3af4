package io.tabletrelay.api;

import java.nio.charset.StandardCharsets;

/**
 * Which publish of which producer: the sequences of a producer in a pipe are 1, 2, 3 …, without a gap.
 *
 * <p>Threading: immutable.
 *
 * @param producer a name of 1 to {@value #MAX_NAME_BYTES} UTF-8 bytes, the producer's own in that pipe
 * @param sequence from 1
 */
public record ProducerSequence(String producer, long sequence) {
    /** The longest producer name, in UTF-8 bytes. */
    public static final int MAX_NAME_BYTES = 200;

    /** Throws {@link RelayException} with {@link ErrorCode#BAD_REQUEST} for a name or number that cannot be one. */
    public ProducerSequence {
        int bytes = producer.getBytes(StandardCharsets.UTF_8).length;
        if (producer.isBlank() || bytes > MAX_NAME_BYTES) {
            throw new RelayException(
                    ErrorCode.BAD_REQUEST,
                    "producer name must be 1 to 200 bytes of text: producer=" + producer + ", utf8Bytes=" + bytes);
        }
        if (sequence < 1) {
            throw new RelayException(
                    ErrorCode.BAD_REQUEST,
                    "sequence must be 1 or more: producer=" + producer + ", sequence=" + sequence);
        }
    }
}
