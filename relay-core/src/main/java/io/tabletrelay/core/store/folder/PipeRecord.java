package io.tabletrelay.core.store.folder;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.config.PipeSettings;
import io.tabletrelay.core.store.SmallFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.TreeMap;

/**
 * What pipe.json and a pipe's tombstone say.
 *
 * <p>Threading: immutable.
 *
 * @param epoch which pipe of that name this is; a later one has a higher epoch
 * @param salt random; nobody outside the relay knows it. 0 in files of before there was one, where it is not written
 * @param createdMillis ms since the epoch of time
 * @param firstFreeId no lower id may be given out; those below it are in the log or void
 * @param idMark no higher id was ever given out
 * @param bootId the run of the operating system in which the mark was last raised
 * @param settings not in the file if there are none
 * @param lifeCycle its flag and its mark are not in the file unless they are set
 */
public record PipeRecord(
        String name,
        long epoch,
        long salt,
        long createdMillis,
        LifeCycle lifeCycle,
        long firstFreeId,
        long idMark,
        String bootId,
        PipeSettings settings) {
    private static final long FORMAT = 1;

    /** Throws IOException, with what is wrong as its message, when it is damaged or of another version. */
    static PipeRecord read(Path file) throws IOException {
        ObjectNode fields = CheckedJson.read(file);
        long format = CheckedJson.number(fields, "format");
        if (format != FORMAT) {
            throw new IOException("its format is %d and this relay reads %d".formatted(format, FORMAT));
        }
        return new PipeRecord(
                CheckedJson.text(fields, "name"),
                CheckedJson.number(fields, "epoch"),
                fields.has("salt") ? CheckedJson.number(fields, "salt") : 0,
                CheckedJson.number(fields, "createdMillis"),
                lifeCycle(fields),
                CheckedJson.number(fields, "firstFreeId"),
                CheckedJson.number(fields, "idMark"),
                CheckedJson.text(fields, "bootId"),
                settings(fields));
    }

    private static LifeCycle lifeCycle(ObjectNode fields) throws IOException {
        return new LifeCycle(
                state(CheckedJson.text(fields, "state")),
                CheckedJson.number(fields, "stateVersion"),
                fields.path("paused").asBoolean(),
                fields.has("finished") ? CheckedJson.number(fields, "finished") : LifeCycle.NOT_FINISHED);
    }

    private static LifeCycleState state(String name) throws IOException {
        try {
            return LifeCycleState.valueOf(name);
        } catch (IllegalArgumentException e) {
            throw new IOException("its state is " + name + ", which this relay does not know", e);
        }
    }

    private static PipeSettings settings(ObjectNode fields) throws IOException {
        try {
            return new PipeSettings(CheckedJson.texts(fields, "settings"));
        } catch (RelayException e) {
            throw new IOException(e.reason(), e);
        }
    }

    /** When this returns the file is on disk, as a whole. */
    public void write(Path file) throws IOException {
        SmallFile.replace(file, encoded());
    }

    /** The same, but that the name is on disk only once the file's directory is forced. */
    void put(Path file) throws IOException {
        SmallFile.put(file, encoded());
    }

    private byte[] encoded() {
        ObjectNode fields = CheckedJson.newObject()
                .put("format", FORMAT)
                .put("name", name)
                .put("epoch", epoch)
                .put("createdMillis", createdMillis)
                .put("state", lifeCycle.state().name())
                .put("stateVersion", lifeCycle.version())
                .put("firstFreeId", firstFreeId)
                .put("idMark", idMark)
                .put("bootId", bootId);
        if (salt != 0) {
            fields.put("salt", salt);
        }
        if (lifeCycle.paused()) {
            fields.put("paused", true);
        }
        if (lifeCycle.isFinished()) {
            fields.put("finished", lifeCycle.finishedAtId());
        }
        if (!settings.values().isEmpty()) {
            ObjectNode values = fields.putObject("settings");
            new TreeMap<>(settings.values()).forEach(values::put);
        }
        return CheckedJson.encode(fields);
    }

    /** After another boot what the log lost is unknown: ids go on above the mark. */
    PipeRecord inBoot(String currentBootId) {
        return bootId.equals(currentBootId) ? this : with(idMark + 1, idMark, currentBootId, lifeCycle);
    }

    public PipeRecord withIdMark(long higher) {
        return with(firstFreeId, higher, bootId, lifeCycle);
    }

    /** Ids go on above the mark. */
    public PipeRecord above(long mark) {
        return with(mark + 1, mark, bootId, lifeCycle);
    }

    PipeRecord withLifeCycle(LifeCycle next) {
        return with(firstFreeId, idMark, bootId, next);
    }

    private PipeRecord with(long nextFreeId, long mark, String boot, LifeCycle life) {
        return new PipeRecord(name, epoch, salt, createdMillis, life, nextFreeId, mark, boot, settings);
    }
}
