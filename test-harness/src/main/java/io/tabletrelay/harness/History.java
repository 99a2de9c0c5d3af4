package io.tabletrelay.harness;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What happened to one pipe, as seen from outside, and whether the promises were kept.
 *
 * <p>Threading: thread-safe by its monitor. Record an attempt before it is made, a confirmation after it came, and an ack
 * only when it is known that the relay has read it.
 */
public final class History {
    private final Set<Long> publishedHashes = new HashSet<>();
    private final TreeSet<Long> confirmedIds = new TreeSet<>();
    private final Set<Long> confirmedHashes = new HashSet<>();
    private final TreeMap<Long, Long> hashById = new TreeMap<>();
    private final Map<Long, Long> idByHash = new HashMap<>();
    private final Set<Long> deliveredIds = new HashSet<>();
    private final Set<Long> deliveredHashes = new HashSet<>();
    private final Set<Long> ackedIds = new HashSet<>();
    private final Set<Long> ackReadIds = new HashSet<>();
    private final List<String> faults = new ArrayList<>();
    private long deliveries;
    private long highestDeliveredId;
    private long orderedUpToId;
    private long settledForGoodUpTo;
    private boolean powerIsGoing;
    /** Read about when the power went: the relay may have known of the acks, or not even of the events. */
    private final Map<Long, Long> perhapsDelivered = new HashMap<>();

    /** A publish of this payload begins; payloads must be unique within a pipe. */
    public synchronized void publishing(ByteBuffer payload) {
        publishedHashes.add(hash(payload));
    }

    /** The relay confirmed this payload under this id. */
    public synchronized void confirmed(long id, ByteBuffer payload) {
        confirmedIds.add(id);
        payloadIs(id, payload, "confirmed");
    }

    /** The relay confirmed this payload as a repeat whose ids it does not remember. */
    public synchronized void confirmed(ByteBuffer payload) {
        confirmedHashes.add(hash(payload));
    }

    /** The relay confirmed ids whose payloads it made itself. */
    public synchronized void confirmed(long firstId, long lastId) {
        for (long id = firstId; id <= lastId; id++) {
            confirmedIds.add(id);
        }
    }

    /** A consumer read this event. */
    public synchronized void delivered(long id, ByteBuffer payload) {
        if (powerIsGoing) { // on a real machine nobody would have got it
            Long known = hashById.get(id);
            if (known != null && known != hash(payload)) {
                faults.add("two payloads: id=" + id + " was delivered without power with another payload than before");
            }
            perhapsDelivered.put(id, hash(payload));
            return;
        }
        deliveries++;
        payloadIs(id, payload, "delivered");
        deliveredHashes.add(hash(payload));
        if (ackReadIds.contains(id)) {
            faults.add("duplicate after ack: id=" + id);
        }
        if (id <= settledForGoodUpTo) {
            faults.add("duplicate after a forced ack: id=" + id + ", settled for good up to " + settledForGoodUpTo);
        }
        if (deliveredIds.add(id)) {
            if (id < orderedUpToId) {
                faults.add("reordered: id=" + id + " first delivered after id=" + orderedUpToId);
            }
            highestDeliveredId = Math.max(highestDeliveredId, id);
            orderedUpToId = Math.max(orderedUpToId, id);
        }
    }

    /** A consumer sent its ack; whether the relay has read it is not known. */
    public synchronized void acked(long id) {
        ackedIds.add(id);
    }

    /** It is known that the relay has read the ack of this event: it must not come again. */
    public synchronized void ackRead(long id) {
        ackedIds.add(id);
        if (!powerIsGoing) {
            ackReadIds.add(id);
        }
    }

    /** The relay said that every id up to this one is settled whatever happens: none of them may come again. */
    public synchronized void settledForGood(long upTo) {
        settledForGoodUpTo = Math.max(settledForGoodUpTo, upTo);
    }

    /**
     * The power is cut at this moment: what the relay still says until it is killed, its disk being gone, counts no more, and
     * events that it passes over come in their place after {@link #powerCut}.
     */
    public synchronized void powerIsGoing() {
        powerIsGoing = true;
    }

    /** The machine lost its power: that an ack was read no longer means that it is known, unless it was settled for good. */
    public synchronized void powerCut() {
        powerIsGoing = false;
        ackReadIds.clear();
    }

    /** These confirmed events are gone, and the pipe's durability permits it. */
    public synchronized void forgive(Collection<Long> ids) {
        confirmedIds.removeAll(ids);
    }

    /** The highest id that was confirmed or delivered, 0 if there is none. */
    public synchronized long highestId() {
        return Math.max(lastConfirmedId(), highestDeliveredId);
    }

    /** Every event up to this id has had its first delivery, if it is to have one. */
    public synchronized long orderedUpToId() {
        return orderedUpToId;
    }

    /** Confirmed ids that no consumer has read yet, lowest first. */
    public synchronized List<Long> undelivered() {
        return confirmedIds.stream().filter(id -> !mayBeDelivered(id)).toList();
    }

    private boolean mayBeDelivered(long id) {
        return deliveredIds.contains(id) || perhapsDelivered.containsKey(id);
    }

    /** What went wrong so far whatever is still to come, one line each. */
    public synchronized List<String> faultsSoFar() {
        return List.copyOf(faults);
    }

    /** The highest confirmed id, 0 if there is none. */
    public synchronized long lastConfirmedId() {
        return confirmedIds.isEmpty() ? 0 : confirmedIds.last();
    }

    public synchronized long confirmedEvents() {
        return confirmedIds.size();
    }

    public synchronized long deliveries() {
        return deliveries;
    }

    /** How many different events were delivered. */
    public synchronized long deliveredEvents() {
        return deliveredIds.size();
    }

    public synchronized long ackedEvents() {
        return ackedIds.size();
    }

    /** How many acks the relay is known to have read. */
    public synchronized long acksRead() {
        return ackReadIds.size();
    }

    /** How many confirmed events were never delivered: those are lost, if everything was drained. */
    public synchronized long lost() {
        return confirmedIds.stream().filter(id -> !mayBeDelivered(id)).count();
    }

    /** Confirmed ids without an ack, lowest first. */
    public synchronized List<Long> unacked() {
        return confirmedIds.stream().filter(id -> !ackedIds.contains(id)).toList();
    }

    /**
     * Everything that must not have happened, one line each; empty if the promises were kept. Call it when the pipe is
     * drained.
     *
     * @param voidIds how many ids the relay reports as void
     */
    public synchronized List<String> faults(long voidIds) {
        List<String> all = new ArrayList<>(faults);
        for (long id : confirmedIds) {
            if (!mayBeDelivered(id)) {
                all.add("lost: id=" + id + " was confirmed and never delivered");
            }
        }
        Set<Long> neverDelivered = new HashSet<>(confirmedHashes);
        neverDelivered.removeAll(deliveredHashes);
        neverDelivered.removeAll(perhapsDelivered.values());
        if (!neverDelivered.isEmpty()) {
            all.add("lost: a payload that was confirmed as a repeat was never delivered");
        }
        if (!publishedHashes.isEmpty()) {
            hashById.forEach((id, hash) -> {
                if (deliveredIds.contains(id) && !publishedHashes.contains(hash)) {
                    all.add("unexpected: id=" + id + " carries what nobody published");
                }
            });
        }
        long gap = highestDeliveredId - deliveredIds.size();
        long perhaps = perhapsDelivered.keySet().stream()
                .filter(id -> id < highestDeliveredId && !deliveredIds.contains(id))
                .count();
        if (voidIds > gap || voidIds < gap - perhaps) {
            all.add("gap: ids up to " + highestDeliveredId + " without an event=" + gap + ", reported void=" + voidIds);
        }
        return all;
    }

    private void payloadIs(long id, ByteBuffer payload, String how) {
        long hash = hash(payload);
        Long known = hashById.putIfAbsent(id, hash);
        if (known != null && known != hash) {
            faults.add("two payloads: id=" + id + " was " + how + " with another payload than before");
        }
        Long knownId = idByHash.putIfAbsent(hash, id);
        if (knownId != null && knownId != id) {
            faults.add("stored twice: the payload of id=" + knownId + " was " + how + " as id=" + id);
        }
    }

    /** 64 bits of a digest: enough that two of some millions never meet by chance. */
    private static long hash(ByteBuffer payload) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(payload.duplicate());
            return ByteBuffer.wrap(digest.digest()).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
