package io.tabletrelay.core.store.folder;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.acks.SettledIds;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the record of a subscription says; it alone decides whether the subscription exists.
 *
 * <p>Threading: immutable.
 *
 * @param createdMillis ms since the epoch; 0: not known
 * @param start its first event: every id below counts as settled
 * @param lettersBefore dead letters up to this number were made before it began, or began anew
 */
public record SubscriptionRecord(String name, long createdMillis, long start, long lettersBefore, State state) {
    static final String FILE_SUFFIX = ".json";
    private static final long FORMAT = 1;

    /** What is to be done with the other files. */
    public enum State {
        LIVE,
        /** It exists, and a ring that was not begun anew yet is an old one. */
        RESET,
        /** It exists no more, and what is left of its files goes. */
        GONE
    }

    /** Throws IOException, with what is wrong as its message, when it is damaged or of another version. */
    static SubscriptionRecord read(Path file) throws IOException {
        ObjectNode fields = CheckedJson.read(file);
        long format = CheckedJson.number(fields, "format");
        if (format != FORMAT) {
            throw new IOException("its format is %d and this relay reads %d".formatted(format, FORMAT));
        }
        return new SubscriptionRecord(
                CheckedJson.text(fields, "name"),
                CheckedJson.number(fields, "createdMillis"),
                CheckedJson.number(fields, "start"),
                CheckedJson.number(fields, "lettersBefore"),
                state(CheckedJson.text(fields, "state")));
    }

    /** What is wrong with that record; empty if nothing is. */
    public static String problemOf(Path file) {
        try {
            String name = read(file).name();
            return fileName(name).equals(String.valueOf(file.getFileName())) ? "" : "it is of another subscription";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** True: it can be read, and says that the subscription exists and that nothing is to be done with its files. */
    public static boolean isLive(Path file) {
        try {
            return read(file).state() == State.LIVE;
        } catch (IOException e) {
            return false;
        }
    }

    /** The record, or what it must have said as far as its ring tells it; null: nothing tells its name. */
    public static @Nullable SubscriptionRecord readOrMade(Path file, @Nullable SettledIds ring) {
        try {
            if (problemOf(file).isEmpty()) {
                return read(file);
            }
        } catch (IOException e) {
            return null;
        }
        String fileName = String.valueOf(file.getFileName());
        String name = DiskName.decode(fileName.substring(0, fileName.length() - FILE_SUFFIX.length()));
        return name == null ? null : made(name, ring);
    }

    /** What a record that is lost must have said, as far as the ring tells it. */
    static SubscriptionRecord made(String name, @Nullable SettledIds ring) {
        return new SubscriptionRecord(name, 0, ring == null ? 1 : ring.settledBelow(), 0, State.LIVE);
    }

    private static String fileName(String name) {
        return DiskName.of(name) + FILE_SUFFIX;
    }

    private static State state(String word) throws IOException {
        for (State state : State.values()) {
            if (word(state).equals(word)) {
                return state;
            }
        }
        throw new IOException("its state '" + word + "' is not known");
    }

    private static String word(State state) {
        return state.name().toLowerCase(Locale.ROOT);
    }

    /** When this returns the file is on disk, as a whole. */
    public void write(Path file) throws IOException {
        SmallFile.replace(
                file,
                CheckedJson.encode(CheckedJson.newObject()
                        .put("format", FORMAT)
                        .put("name", name)
                        .put("createdMillis", createdMillis)
                        .put("start", start)
                        .put("lettersBefore", lettersBefore)
                        .put("state", word(state))));
    }

    SubscriptionRecord in(State next) {
        return new SubscriptionRecord(name, createdMillis, start, lettersBefore, next);
    }
}
