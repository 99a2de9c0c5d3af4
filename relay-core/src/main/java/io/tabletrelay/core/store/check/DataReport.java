package io.tabletrelay.core.store.check;

import java.util.List;

/**
 * What was found in a data directory.
 *
 * <p>Threading: immutable.
 *
 * @param tombstones of deleted pipes
 * @param deleted folders of deleted pipes that the next start of a relay removes
 * @param damages of what is no pipe's
 */
public record DataReport(
        String directory, List<PipeReport> pipes, List<String> tombstones, List<String> deleted, List<Damage> damages) {
    public boolean isSound() {
        return damages.isEmpty() && pipes.stream().allMatch(PipeReport::isSound);
    }
}
