package io.tabletrelay.core.pipe;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.PipeName;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.StoreConfig;
import io.tabletrelay.core.delivery.DiskTasks;
import io.tabletrelay.core.delivery.RetryWait;
import io.tabletrelay.core.store.EventLog;
import io.tabletrelay.core.store.ForceFailedException;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When a log at durability disk is forced, and what happens when that fails. One force covers all that was appended before it;
 * appends go on while it runs.
 *
 * <p>The next force begins when as much has been appended again as was outstanding when the last one ended, so that many
 * producers who wait for their answers share one and a lone one waits for nobody; or at {@code commit-bytes}; at the latest
 * {@code commit-interval} after the oldest of these appends, or after the last force if that is longer ago.
 *
 * <p>After a force that failed nothing is tried for 1 s, then 2 s, up to 60 s: publishes are refused meanwhile, what is durable is
 * delivered and acked as ever.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class GroupCommit {
    private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);

    private final PipeName pipe;
    private final EventLog log;
    private final DiskTasks diskTasks;
    private final boolean atDisk;
    private final long intervalNanos;
    private final long mostBytes;
    private final LongSupplier nanoTime;
    private final Predicate<RelayException> onFailure;

    private boolean forcing;
    private boolean somebodyWaits;
    /** Publishes appended since the last force began, their bytes, and when the first of them was seen here. */
    private int gathered;

    private long gatheredBytes;
    private long oldestAtNanos;
    private int forced;
    /** How many publishes may come before it is worth to begin. */
    private int expected = 1;

    private long endedAtNanos;
    private @Nullable RelayException failure;
    private final RetryWait retry = new RetryWait();

    /** {@code onFailure} is told when a force has failed, and says whether that was the end of all that waited for one. */
    GroupCommit(
            PipeName pipe,
            EventLog log,
            DiskTasks diskTasks,
            StoreConfig config,
            LongSupplier nanoTime,
            Predicate<RelayException> onFailure) {
        this.pipe = pipe;
        this.log = log;
        this.diskTasks = diskTasks;
        this.atDisk = config.durability() == Durability.DISK;
        this.intervalNanos = config.commit().interval().toNanos();
        this.mostBytes = config.commit().bytes();
        this.nanoTime = nanoTime;
        this.onFailure = onFailure;
        this.endedAtNanos = nanoTime.getAsLong() - intervalNanos;
    }

    void appended(long bytes) {
        if (!atDisk) {
            return;
        }
        if (gathered == 0) {
            oldestAtNanos = nanoTime.getAsLong();
        }
        gathered++;
        gatheredBytes += bytes;
    }

    /** Begins a force if it is time; {@code somebodyWaits}: for a confirmation or for deliveries. */
    void turn(boolean waits) {
        somebodyWaits = waits;
        if (atDisk && !forcing && log.durableId() < log.lastId() && isDue(nanoTime.getAsLong())) {
            forcing = true;
            forced = gathered;
            gathered = 0;
            gatheredBytes = 0;
            diskTasks.submit(log::force, this::ended);
        }
    }

    /** When the next turn is wanted though no command comes, or {@code otherwise}. */
    long nextDeadlineNanos(long otherwise) {
        if (forcing) {
            return otherwise;
        }
        boolean uncovered = atDisk && log.durableId() < log.lastId();
        if (uncovered && gathered > 0) {
            return latestNanos();
        }
        boolean forcesAgain = uncovered && failure != null && somebodyWaits;
        return forcesAgain || refusal() != null ? retry.atNanos() : otherwise;
    }

    /** The log could make room: at durability process that is all it takes to be well again. */
    void madeRoom() {
        if (!atDisk) {
            wellAgain();
        }
    }

    private void wellAgain() {
        failure = null;
        retry.wentWell();
    }

    /** Why nothing may be appended at the moment, or null. */
    @Nullable
    RelayException refusal() {
        return failure != null && !retry.isOver(nanoTime.getAsLong()) ? failure : null;
    }

    /** What is wrong since the last force failed; empty: nothing. */
    String trouble() {
        RelayException cause = failure;
        return cause == null ? "" : cause.reason();
    }

    /** Takes note if some task of the log came upon a force that failed; true: it did. */
    boolean failed(@Nullable Throwable outcome) {
        if (!(outcome instanceof ForceFailedException cause)) {
            return false;
        }
        RelayException refusal = new RelayException(
                cause.code(),
                "event was not stored: pipe=" + pipe + ", " + cause.reason() + "; publish it again later",
                cause);
        failure = refusal;
        long waitNanos = retry.failed(nanoTime.getAsLong());
        LOG.warn("publishes are refused for {} ms: {}", waitNanos / 1_000_000, cause.reason());
        if (onFailure.test(refusal)) {
            gathered = 0;
            gatheredBytes = 0;
            expected = 1;
        }
        return true;
    }

    private boolean isDue(long now) {
        if (gathered == 0) { // left by an earlier run: nobody may ask for it for a long time
            return somebodyWaits && (failure == null || retry.isOver(now));
        }
        return gathered >= expected || gatheredBytes >= mostBytes || now - latestNanos() >= 0;
    }

    private long latestNanos() {
        long since = endedAtNanos - oldestAtNanos < 0 ? endedAtNanos : oldestAtNanos;
        return since + intervalNanos;
    }

    private void ended(@Nullable Throwable outcome) {
        forcing = false;
        endedAtNanos = nanoTime.getAsLong();
        if (failed(outcome)) {
            return;
        }
        if (outcome != null) {
            throw PipeFailure.of(pipe, "its log cannot be forced", outcome);
        }
        expected = Math.max(1, forced + gathered);
        if (log.durableId() == log.lastId()) {
            gathered = 0;
            gatheredBytes = 0;
        }
        wellAgain();
    }
}
