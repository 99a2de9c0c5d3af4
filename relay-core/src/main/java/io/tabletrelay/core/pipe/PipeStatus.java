package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Durability;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A pipe at one moment.
 *
 * <p>Threading: immutable.
 *
 * @param epoch tells one pipe of this name from an earlier one
 * @param state of its life: {@code OPEN}, {@code DRAINING}, {@code CLOSED} or {@code TERMINATED}; over each of them
 *     {@code FAILED}; {@code UNKNOWN} until its files were open
 * @param reason why the pipe is FAILED or not accepting, empty otherwise
 * @param open true while its files are open; otherwise the next use opens them, and what they say is 0 here
 * @param version of the state, rises by one with each change; 0: not known
 * @param paused true while nothing is sent
 * @param finishedAtId no event of a higher id will ever be there; null: its producer has not finished it
 * @param firstId lowest id kept
 * @param lastId highest id given
 * @param voidIds ids up to lastId that no event will ever have
 * @param floor highest id up to which every id is settled by all subscriptions; while there is none as a new one would have it
 * @param durableFloor the same, as it is durable at the pipe's level: at disk what was forced; at process equal to floor
 * @param settled settled ids up to lastId of the subscription that has settled fewest, void ones not counted
 * @param deliveredUpTo highest id delivered so far to {@code default}; without that, to the subscription with the lowest floor
 * @param inFlight delivered, not settled, on the wire or at a consumer, of all subscriptions
 * @param waiting to be delivered again, now or later, of all subscriptions
 * @param deadLetters given up, and neither redriven nor purged
 * @param dropped unsettled events deleted to make room for newer ones, since the relay was started
 * @param diskBytes bytes of the pipe's files
 * @param consumer true while a consumer is bound
 * @param settings what was chosen when the pipe was made; empty while it is not OPEN
 * @param subscriptions those that exist; empty while it is not OPEN
 */
public record PipeStatus(
        String name,
        long epoch,
        String state,
        String reason,
        boolean open,
        long version,
        boolean paused,
        @Nullable Long finishedAtId,
        Durability durability,
        long firstId,
        long lastId,
        long voidIds,
        long floor,
        long durableFloor,
        long settled,
        long deliveredUpTo,
        int inFlight,
        int waiting,
        long deadLetters,
        long dropped,
        long diskBytes,
        boolean consumer,
        Map<String, String> settings,
        List<SubscriptionStatus> subscriptions) {
    /** Of a pipe whose files are not open. */
    static PipeStatus notOpen(String name, Standing standing) {
        return new PipeStatus(
                name,
                0,
                standing.state(),
                standing.reason(),
                false,
                standing.version(),
                standing.paused(),
                standing.finishedAtId(),
                Durability.PROCESS,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                standing.consumer(),
                Map.of(),
                List.of());
    }
}
