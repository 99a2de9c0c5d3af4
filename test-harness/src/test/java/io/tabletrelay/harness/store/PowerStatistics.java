package io.tabletrelay.harness.store;

import java.util.EnumMap;
import java.util.Map;

/**
 * What many cuts came to.
 *
 * <p>Threading: used by the test's thread.
 */
final class PowerStatistics {
    private final Map<CutPlan.Moment, Integer> cutsByMoment = new EnumMap<>(CutPlan.Moment.class);
    private long floorsSeen;
    private long pipes;
    private long forcedConfirmed;
    private long otherConfirmed;
    private long otherLost;
    private long delivered;
    private long redelivered;

    void cut(CutPlan plan) {
        cutsByMoment.merge(plan.moment(), 1, Integer::sum);
    }

    void floorsSeen(long seen) {
        floorsSeen += seen;
    }

    void finished(PowerPipe pipe) {
        pipes++;
        delivered += pipe.history().deliveredEvents();
        redelivered += pipe.history().deliveries() - pipe.history().deliveredEvents();
        otherLost += pipe.lostEvents();
        if (pipe.isForced()) {
            forcedConfirmed += pipe.history().confirmedEvents();
        } else {
            otherConfirmed += pipe.history().confirmedEvents() + pipe.lostEvents();
        }
    }

    int cuts() {
        return cutsByMoment.values().stream().mapToInt(Integer::intValue).sum();
    }

    long forcedConfirmed() {
        return forcedConfirmed;
    }

    @Override
    public String toString() {
        return "cuts=" + cuts() + " " + cutsByMoment + ", pipes=" + pipes + ", at disk confirmed=" + forcedConfirmed
                + " lost=0, at process confirmed=" + otherConfirmed + " lost=" + otherLost + ", delivered=" + delivered
                + ", redelivered=" + redelivered + ", durable floors seen=" + floorsSeen;
    }
}
