package io.tabletrelay.core.store.acks;

import io.tabletrelay.core.store.acks.AttemptJournal.Attempt;
import io.tabletrelay.core.store.acks.AttemptJournal.Change;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a file of attempts says, as far as it can be read.
 *
 * <p>Threading: immutable, but for the map, which is its reader's.
 *
 * @param attempts by id; those of damaged records are missing, and what those forgot is there
 * @param wholeBytes up to the end of the last whole record
 * @param cutBytes behind that: a few after a kill are normal
 * @param isDamaged something is no record that ever was written whole or begun last
 */
public record AttemptFile(Map<Long, Attempt> attempts, int wholeBytes, int cutBytes, boolean isDamaged) {
    /** Reads the file, and changes nothing. */
    public static AttemptFile read(Path path) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path));
        Map<Long, Attempt> attempts = new HashMap<>();
        boolean damaged = !AttemptFormat.readHeader(bytes);
        bytes.position(Math.min(AttemptFormat.HEADER_BYTES, bytes.limit()));
        int end = bytes.position();
        while (bytes.hasRemaining()) {
            Change change = AttemptFormat.read(bytes);
            if (change == null) {
                change = next(bytes);
                damaged |= change != null || AttemptFormat.isDamaged(bytes);
            }
            if (change == null) {
                return new AttemptFile(attempts, end, bytes.limit() - end, damaged);
            }
            apply(change, attempts);
            end = bytes.position();
        }
        return new AttemptFile(attempts, end, 0, damaged);
    }

    /** The bytes of a file that says the same and is whole. */
    public byte[] rewritten() {
        return AttemptFormat.file(attempts.values().stream()
                .map(attempt -> new Change(attempt.id(), attempt))
                .toList());
    }

    static void apply(Change change, Map<Long, Attempt> attempts) {
        if (change.attempt() == null) {
            attempts.remove(change.id());
        } else {
            attempts.put(change.id(), change.attempt());
        }
    }

    /** The next whole record, wherever it begins; null, the position unmoved, if there is none. */
    private static @Nullable Change next(ByteBuffer bytes) {
        int from = bytes.position();
        for (int at = from; at < bytes.limit(); at++) {
            Change change = AttemptFormat.read(bytes.position(at));
            if (change != null) {
                return change;
            }
        }
        bytes.position(from);
        return null;
    }
}
