package io.tabletrelay.core.store.check;

import io.tabletrelay.core.store.log.LogCheck;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was found of one pipe.
 *
 * <p>Threading: immutable.
 *
 * @param events null if nothing says which pipe it is, or the log could not be read
 * @param deadLetters likewise
 * @param settled null if there is no such file, or a damaged one
 * @param unsettledEvents that can be read, and would be delivered
 * @param attempts how many failing events are remembered
 * @param damages the first of them
 * @param damageCount how many there are
 * @param leftovers what a relay clears away, or has set aside before
 */
public record PipeReport(
        String name,
        LogCheck.@Nullable Result events,
        LogCheck.@Nullable Result deadLetters,
        @Nullable Settled settled,
        long unsettledEvents,
        int attempts,
        List<Damage> damages,
        long damageCount,
        List<String> leftovers) {

    /**
     * What a subscription's ring says.
     *
     * <p>Threading: immutable.
     *
     * @param floor every id up to it is settled, but for what only the log knows: void ids behind it
     * @param settledAboveFloor how many ids above it are settled
     */
    public record Settled(long floor, long settledAboveFloor, long deliveredUpTo) {}

    public boolean isSound() {
        return damageCount == 0;
    }
}
