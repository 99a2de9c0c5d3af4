package io.tabletrelay.core;

import io.tabletrelay.api.Appended;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.ProducerSequence;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.core.server.EventIntake;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * Publishes what producers' connections send.
 *
 * <p>Threading: thread-safe, as the publisher is.
 */
final class ProducerIntake implements EventIntake {
    private final RelayPublisher publisher;
    private final int maxEventBytes;

    ProducerIntake(RelayPublisher publisher, int maxEventBytes) {
        this.publisher = publisher;
        this.maxEventBytes = maxEventBytes;
    }

    @Override
    public int maxEventBytes() {
        return maxEventBytes;
    }

    @Override
    public List<String> sourceTypes() {
        return publisher.sourceTypes();
    }

    @Override
    public CompletionStage<Appended> take(
            PipeName pipe, String sourceType, Map<String, String> headers, ByteBuffer bytes, Order order) {
        SourceEvent event = new SourceEvent(pipe, bytes, Map.of());
        if (order instanceof Order.Named named) {
            ProducerSequence sequence = named.sequence();
            return publisher.start(
                    sourceType,
                    event,
                    sequence,
                    RelayPublisher.lane(pipe, sequence.producer()),
                    new RelayPublisher.InOrder(headers, true, () -> null));
        }
        Order.Unnamed unnamed = (Order.Unnamed) order;
        return publisher.start(
                sourceType,
                event,
                null,
                unnamed.connection(),
                new RelayPublisher.InOrder(headers, false, unnamed::objection));
    }
}
