package io.tabletrelay.harness.bench.client;

import io.tabletrelay.api.Payload;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.store.EventGroup;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.acks.SettledIds;
import io.tabletrelay.core.store.folder.BootId;
import io.tabletrelay.core.store.folder.DataDirectory;
import io.tabletrelay.core.store.folder.PipeStore;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * A pipe with a long past, written without a relay: what would take one hours is there in seconds. What is settled is said in the
 * files as a relay says it.
 *
 * <p>Threading: immutable.
 */
public final class StoredPipe {
    private static final int EVENT_BYTES = 32;
    private static final int EVENTS_A_GROUP = 200;

    private final Path data;
    private final String name;

    public StoredPipe(Path data, String name) {
        this.data = data;
        this.name = name;
    }

    /**
     * Writes that many small events; no relay may use the folder meanwhile.
     *
     * @param deliveredUpTo highest id that counts as delivered
     * @param settled tells which of those are settled
     */
    public void write(long events, long deliveredUpTo, LongPredicate settled) {
        Clock clock = Clock.systemUTC();
        try (DataDirectory directory = DataDirectory.open(data, clock, BootId::current);
                PipeStore store = PipeStore.open(
                        directory.pipe(new PipeName(name)),
                        StoreConfig.DEFAULT,
                        SettledIds.DEFAULT_MAX_SPREAD_IDS,
                        clock)) {
            append(store.log(), events, clock.millis());
            settle(store.settled(), deliveredUpTo, settled);
        }
    }

    private static void append(EventLog log, long events, long nowMillis) {
        Payload payload = new Payload(
                "application/octet-stream",
                Map.of(),
                ByteBuffer.allocate(EVENT_BYTES).asReadOnlyBuffer());
        List<Payload> payloads = Collections.nCopies(EVENTS_A_GROUP, payload);
        for (long stored = 0; stored < events; stored += EVENTS_A_GROUP) {
            int size = (int) Math.min(EVENTS_A_GROUP, events - stored);
            EventGroup group = new EventGroup(payloads.subList(0, size), null, nowMillis);
            if (!log.hasRoomFor(group)) {
                log.makeRoomFor(group);
            }
            log.append(group);
        }
    }

    private static void settle(SettledIds ids, long deliveredUpTo, LongPredicate settled) {
        for (long id = 1; id <= deliveredUpTo; id++) {
            if (!ids.hasRoomFor(id)) {
                SettledIds.Growth growth = ids.startGrowth();
                growth.copy();
                growth.publish();
                growth.finish();
            }
            ids.raiseDeliveredUpTo(id);
            if (settled.test(id)) {
                ids.settle(id);
            }
        }
    }
}
