package io.tabletrelay.core.pipe;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many pipes have their files open at a time. Once there are {@code wanted}, a pipe that opens takes the place of the one
 * that has had nothing to do for longest. Where none has nothing to do for a while, more are open, up to {@code most}; beyond
 * that pipes wait: a log must not run out of file handles.
 *
 * <p>Threading: thread-safe by its monitor and a volatile field.
 */
final class OpenPlaces {
    /** For so long a pipe waits for another one to have nothing to do. */
    static final long PATIENCE_NANOS = 1_000_000_000L;

    private static final Logger log = LoggerFactory.getLogger(OpenPlaces.class);
    private static final int MOST_LISTED = 256;

    private final int wanted;
    private final int most;
    private final Set<OpenPlace> taken = new HashSet<>();
    private final Set<OpenPlace> closing = new HashSet<>();
    private final LinkedHashSet<OpenPlace> waiting = new LinkedHashSet<>();
    /** Idle when it was made, least recently used first. */
    private final ArrayDeque<Unused> unused = new ArrayDeque<>();

    private long lastChangeNanos;
    private boolean saidTooMany;
    private volatile boolean pressed;

    private record Unused(OpenPlace place, long sinceNanos) {}

    /**
     * @param wanted from so many on pipes that have nothing to do are closed
     * @param most never more are open
     */
    OpenPlaces(int wanted, int most) {
        this.wanted = wanted;
        this.most = most;
    }

    static OpenPlaces unlimited() {
        return new OpenPlaces(Integer.MAX_VALUE, Integer.MAX_VALUE);
    }

    int most() {
        return most;
    }

    synchronized int taken() {
        return taken.size();
    }

    synchronized boolean take(OpenPlace place, long nowNanos) {
        if (taken.contains(place)) {
            return true;
        }
        if (waiting.isEmpty()) {
            lastChangeNanos = nowNanos;
        }
        boolean nobodyGivesWay = nowNanos - lastChangeNanos >= PATIENCE_NANOS;
        if (taken.size() < wanted || (nobodyGivesWay && taken.size() < most)) {
            waiting.remove(place);
            grant(place);
        } else {
            waiting.add(place);
            askForPlaces();
        }
        press();
        return taken.contains(place);
    }

    synchronized void free(OpenPlace place, long nowNanos) {
        waiting.remove(place);
        closing.remove(place);
        if (taken.remove(place)) {
            lastChangeNanos = nowNanos;
        }
        while (taken.size() < wanted && !waiting.isEmpty()) {
            OpenPlace first = waiting.iterator().next();
            waiting.remove(first);
            grant(first);
            first.wakeUp();
        }
        press();
    }

    /** True if the place is needed, which then counts as being given up. */
    boolean wantsPlaceOf(OpenPlace place) {
        return pressed && takeBack(place);
    }

    private synchronized boolean takeBack(OpenPlace place) {
        boolean isWanted = isShort() && taken.contains(place) && closing.add(place);
        press();
        return isWanted;
    }

    synchronized void kept(OpenPlace place, long nowNanos) {
        closing.remove(place);
        askForPlaces();
        press();
    }

    private void grant(OpenPlace place) {
        taken.add(place);
        if (taken.size() > wanted && !saidTooMany) {
            saidTooMany = true;
            log.warn(
                    "more pipes have something to do than may be open: open={}, max-open-pipes={}, at most={}; raise max-open-pipes",
                    taken.size(),
                    wanted,
                    most);
        }
    }

    /** Fewer give up their places than are wanted. */
    private boolean isShort() {
        return waiting.size() > closing.size() || taken.size() - closing.size() > wanted;
    }

    private void askForPlaces() {
        boolean looked = false;
        while (waiting.size() > closing.size()) {
            Unused next = unused.poll();
            if (next == null) {
                if (looked) {
                    return;
                }
                looked = true;
                findUnused();
            } else if (isUnused(next) && closing.add(next.place())) {
                next.place().askToClose();
            }
        }
    }

    private boolean isUnused(Unused found) {
        OpenPlace place = found.place();
        return taken.contains(place) && place.isIdle() && place.usedAtNanos() == found.sinceNanos();
    }

    private void findUnused() {
        List<Unused> found = new ArrayList<>();
        for (OpenPlace place : taken) {
            if (place.isIdle() && !closing.contains(place)) {
                found.add(new Unused(place, place.usedAtNanos()));
            }
        }
        long latest = found.stream().mapToLong(Unused::sinceNanos).findFirst().orElse(0);
        found.sort(Comparator.comparingLong(each -> each.sinceNanos() - latest)); // nanoTime may wrap
        unused.addAll(found.subList(0, Math.min(MOST_LISTED, found.size())));
    }

    private void press() {
        pressed = isShort();
    }
}
