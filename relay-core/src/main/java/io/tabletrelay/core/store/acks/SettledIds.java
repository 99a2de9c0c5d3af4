package io.tabletrelay.core.store.acks;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.core.store.ForceFailedException;
import io.tabletrelay.core.store.IdRange;
import io.tabletrelay.core.store.SmallFile;
import io.tabletrelay.core.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which events of a pipe one subscription has settled: a mapped ring with one bit per id, from the lowest id not settled to
 * the highest delivered. A settle is one ordered 8-byte store and survives a kill when it has returned.
 *
 * <p>The ring is a window: no id is delivered unless its word is free ({@link #hasRoomFor}), and none settled that was not
 * delivered. So the word of a block is only ever overwritten when all of its ids are settled, and the header's
 * {@code deliveredUpTo} alone says at the next open where the window can begin at the earliest; the floor is found by
 * reading on from there. {@code settledBelow} covers what neither bits nor window can say.
 *
 * <p>Killed anywhere: a word is stored whole or not at all; a header value keeps its older twin until the newer is whole;
 * {@code deliveredUpTo} is raised before the send, so at worst an event counts as delivered that never left. In a power cut
 * any words may be older than others: their ids are delivered again. Damage makes ids unsettled, never settled: a word with
 * a wrong check counts as empty, and a file with a damaged header is set aside and begun anew.
 *
 * <p>Growing, killed before the new file has its name: the old one goes on, it got every store; afterwards: the new one has
 * them all, since from the copy on each store goes to both before it returns.
 *
 * <p>Threading: created by an I/O thread, used by the pipe's transfer thread; methods that say I/O thread run there, one at
 * a time.
 */
public final class SettledIds {
    /** The widest window unless an operator says otherwise: 16 M ids, a file of 4 MiB. */
    public static final long DEFAULT_MAX_SPREAD_IDS = 1L << 24;

    private final Path path;
    private final long maxSpreadIds;
    private final @Nullable Path damagedFile;

    private SettledFile file;
    private @Nullable SettledFile copy;
    private long floor;
    private long settledAboveFloor;
    private long changes;
    /** At durability process every state counts as forced. */
    private boolean atDisk;

    private long durableFloor;
    private long forcedChanges;

    /** The file that has the name, and the one that shall get it; I/O threads only. */
    private SettledFile namedFile;

    private @Nullable SettledFile growingFile;
    private boolean nameUnforced;
    private boolean forceFailed;

    private SettledIds(Path path, long maxSpreadIds, SettledFile file, @Nullable Path damagedFile) {
        this.path = path;
        this.maxSpreadIds = maxSpreadIds;
        this.damagedFile = damagedFile;
        this.file = file;
        this.namedFile = file;
        long highestBlock = SettledFormat.block(file.deliveredUpTo().value());
        long lowestOpenId = (highestBlock - file.words() + 1) * SettledFormat.IDS_PER_WORD;
        this.floor = Math.max(file.settledBelow().value(), lowestOpenId) - 1;
        this.settledAboveFloor = countSettled(floor + 1, Long.MAX_VALUE);
        advance();
    }

    /**
     * Opens the file, or begins one in which every id below {@code startBelow} is settled and none was delivered. A damaged
     * one is set aside, see {@link #damagedFile}; the new one then takes ids up to {@code lastId} as delivered, as far as
     * the widest window reaches, so that late acks still count. I/O thread.
     *
     * @param lastId the highest id that can have been delivered
     * @param maxSpreadIds the widest that the window may grow
     */
    public static SettledIds open(Path path, long startBelow, long lastId, long maxSpreadIds) {
        if (startBelow < 1) {
            throw new IllegalArgumentException("startBelow=" + startBelow + " must be at least 1");
        }
        try {
            Files.createDirectories(SmallFile.parent(path));
            Files.deleteIfExists(SmallFile.temp(path));
            SettledFile file = Files.exists(path) ? SettledFile.open(path) : null;
            if (file != null) {
                return new SettledIds(path, maxSpreadIds, file, null);
            }
            Path damaged = Files.exists(path) ? SmallFile.setAside(path) : null;
            long delivered = damaged == null ? startBelow - 1 : Math.max(lastId, startBelow - 1);
            return new SettledIds(path, maxSpreadIds, begin(path, startBelow, delivered, maxSpreadIds), damaged);
        } catch (IOException e) {
            throw SmallFile.failure("settled ids cannot be opened", path, e);
        }
    }

    /**
     * Begins a file in which every id below {@code startBelow} is settled and none was delivered, in the place of another one, which
     * nobody may use any more. On disk, under its name, when this returns; killed before, the other one is there. I/O thread.
     */
    public static SettledIds anew(Path path, long startBelow, long appendedUpTo, long maxSpreadIds) throws IOException {
        Path temp = SmallFile.temp(path);
        SettledFile file = SettledFile.create(temp, SettledFormat.FIRST_BYTES, startBelow, startBelow - 1);
        file.appendedUpTo().raiseTo(appendedUpTo);
        file.force();
        SmallFile.moveIntoPlace(temp, path);
        return new SettledIds(path, maxSpreadIds, file, null);
    }

    /** Opens the file to be read only; null if it is damaged. */
    public static @Nullable SettledIds look(Path path) throws IOException {
        SettledFile file = SettledFile.look(path);
        return file == null ? null : new SettledIds(path, 0, file, null);
    }

    /** How many words are damaged: what they said of up to 32 ids each is lost, and those events come again. */
    public int damagedWords() {
        return file.damagedWords().size();
    }

    /** Ids among which settled ones count as unsettled, since their words are damaged; null: none. */
    public @Nullable IdRange damagedIds() {
        return file.damagedIds(floor);
    }

    /** The bytes of the file with its damaged words emptied. */
    public byte[] withoutDamage() throws IOException {
        byte[] content = Files.readAllBytes(path);
        for (int at : file.damagedWords()) {
            Arrays.fill(content, at, at + Long.BYTES, (byte) 0);
        }
        return content;
    }

    private static SettledFile begin(Path path, long startBelow, long delivered, long maxSpreadIds) throws IOException {
        long firstBlock = SettledFormat.block(startBelow);
        int fileBytes = SettledFormat.FIRST_BYTES;
        while (SettledFormat.block(delivered) - firstBlock >= SettledFormat.words(fileBytes)
                && canDouble(fileBytes, maxSpreadIds)) {
            fileBytes *= 2;
        }
        long lastWithRoom = (firstBlock + SettledFormat.words(fileBytes)) * SettledFormat.IDS_PER_WORD - 1;
        Path temp = SmallFile.temp(path);
        SettledFile file = SettledFile.create(temp, fileBytes, startBelow, Math.min(delivered, lastWithRoom));
        Files.move(temp, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return file;
    }

    private static boolean canDouble(int fileBytes, long maxSpreadIds) {
        long idsPerByte = SettledFormat.IDS_PER_WORD / Long.BYTES;
        return 2L * fileBytes * idsPerByte <= maxSpreadIds && fileBytes < 1 << 29;
    }

    /** Where the file went that was found damaged at the open: its acks are lost and its events come again; or null. */
    public @Nullable Path damagedFile() {
        return damagedFile;
    }

    public boolean isSettled(long id) {
        return id <= floor || (file.bits(SettledFormat.block(id)) & SettledFormat.bit(id)) != 0;
    }

    /** The first id from this one on that is not settled; looks at whole words, so that millions are passed at once. */
    public long firstUnsettled(long fromId) {
        long id = Math.max(fromId, floor + 1);
        while (true) {
            int from = (int) (id & (SettledFormat.IDS_PER_WORD - 1));
            int bits = file.bits(SettledFormat.block(id));
            int run = Math.min(Integer.numberOfTrailingZeros(~(bits >>> from)), SettledFormat.IDS_PER_WORD - from);
            id += run;
            if (from + run < SettledFormat.IDS_PER_WORD) {
                return id;
            }
        }
    }

    /** Settles an id that was delivered; returns false if it was settled before. When this returns it survives a kill. */
    public boolean settle(long id) {
        if (id <= floor) {
            return false;
        }
        long block = SettledFormat.block(id);
        int before = file.bits(block);
        int bits = before | SettledFormat.bit(id);
        if (bits == before) {
            return false;
        }
        if (id > deliveredUpTo()) {
            throw new IllegalArgumentException("id=" + id + " was not delivered: deliveredUpTo=" + deliveredUpTo());
        }
        file.put(block, bits);
        if (copy != null) {
            copy.put(block, bits);
        }
        settledAboveFloor++;
        changes++;
        if (id == floor + 1) {
            advance(bits);
        }
        return true;
    }

    /** The highest id up to which every id is settled. */
    public long floor() {
        return floor;
    }

    /** How many ids above the floor are settled. */
    public long settledAboveFloor() {
        return settledAboveFloor;
    }

    /** Every id up to this one is settled; not stored: after an open the caller says it again (void ids). */
    public void skipTo(long id) {
        if (id <= floor) {
            return;
        }
        settledAboveFloor -= countSettled(floor + 1, id);
        floor = id;
        changes++;
        advance();
    }

    /** The highest id that was delivered, or passed over as settled. */
    public long deliveredUpTo() {
        return file.deliveredUpTo().value();
    }

    /** Highest id of which it was said here that it was appended, and so may be confirmed. */
    public long appendedUpTo() {
        return file.appendedUpTo().value();
    }

    /**
     * To be called before an append up to this id is confirmed. When this returns it survives a kill: should the log be shorter at
     * the next open, its files are not those that were written.
     */
    public void raiseAppendedUpTo(long id) {
        file.appendedUpTo().raiseTo(id);
        if (copy != null) {
            copy.appendedUpTo().raiseTo(id);
        }
    }

    /** Every id below this one was settled for ever before anything of it was deleted. */
    public long settledBelow() {
        return namedFile.settledBelow().value();
    }

    /** To be called before the id is sent; it needs room. When this returns it survives a kill. */
    public void raiseDeliveredUpTo(long id) {
        if (!hasRoomFor(id)) {
            throw new IllegalArgumentException("no room for id=" + id + ": floor=" + floor + ", words=" + file.words());
        }
        file.deliveredUpTo().raiseTo(id);
        if (copy != null) {
            copy.deliveredUpTo().raiseTo(id);
        }
    }

    /**
     * False: the id must not be delivered before the ring has grown or the floor has risen. The word of a block is overwritten
     * only when the disk too knows that all of its ids are settled.
     */
    public boolean hasRoomFor(long id) {
        return SettledFormat.block(id) - SettledFormat.block(durableFloor() + 1) < file.words();
    }

    /** How many ids the window spans today. */
    public long spreadIds() {
        return (long) file.words() * SettledFormat.IDS_PER_WORD;
    }

    /** False: the window is as wide as it may become. */
    public boolean canGrow() {
        return canDouble(file.fileBytes(), maxSpreadIds);
    }

    /**
     * Every id below this one is settled for ever; on disk when this returns. The transfer thread then calls
     * {@code skipTo(id - 1)}. I/O thread.
     */
    public void settleBelow(long id) {
        boolean failedBefore = forceFailed;
        try {
            if (failedBefore) {
                namedFile.touch();
            }
            if (growingFile != null) {
                growingFile.settledBelow().raiseTo(id);
            }
            namedFile.settledBelow().raiseTo(id);
            forceFailed = true; // the kernel says once that some page could not be written, whichever page is asked for
            namedFile.forceHeader();
            forceFailed = failedBefore;
        } catch (IOException e) {
            throw SmallFile.failure("settled ids cannot be forced to disk", path, e);
        }
    }

    /**
     * Begins to double the window: allocates the new file. Settling goes on all the while. I/O thread.
     *
     * @throws StoreException with PIPE_FULL at the widest, STORAGE_FULL if the disk is full; nothing has changed then
     */
    public Growth startGrowth() {
        if (growingFile != null) {
            throw new IllegalStateException("settled ids are growing already: path=" + path);
        }
        int fileBytes = namedFile.fileBytes();
        if (!canDouble(fileBytes, maxSpreadIds)) {
            throw new StoreException(
                    ErrorCode.PIPE_FULL,
                    "settled ids cannot grow: path=" + path + ", fileBytes=" + fileBytes + ", max-ack-spread="
                            + maxSpreadIds + "; settle the oldest events or raise the limit");
        }
        try {
            long settledBelow = namedFile.settledBelow().value();
            growingFile = SettledFile.create(SmallFile.temp(path), 2 * fileBytes, settledBelow, 0);
            return new Growth(growingFile);
        } catch (IOException e) {
            throw SmallFile.failure("settled ids cannot grow", path, e);
        }
    }

    /**
     * From now on, at durability disk, only what was forced counts as durable; what is there is forced now, whatever an earlier
     * run could not write. I/O thread, after the open.
     */
    public void keepOnDisk() {
        atDisk = true;
        forceFailed = true;
        nameUnforced = true;
        Force force = new Force();
        force.run();
        force.done();
    }

    /** The highest id up to which everything is settled and that is durable at the pipe's level. */
    public long durableFloor() {
        return atDisk ? durableFloor : floor;
    }

    /** True: something was settled that is not durable yet; {@link #startForce} makes it so. */
    public boolean wantsForce() {
        return atDisk && changes != forcedChanges;
    }

    /** To be run by an I/O thread: what is settled now comes to disk, and more with it, perhaps. */
    public Force startForce() {
        return new Force();
    }

    /** Gives back the memory. I/O thread; nothing else may be called afterwards, by any thread. */
    public void close() {
        namedFile.close();
    }

    private void advance() {
        advance(file.bits(SettledFormat.block(floor + 1)));
    }

    /** Goes on only while it finds settled ids, so it ends: no word has the bits of two blocks. */
    private void advance(int bitsOfNextBlock) {
        int bits = bitsOfNextBlock;
        boolean wholeBlock = true;
        while (wholeBlock) {
            int from = (int) ((floor + 1) & (SettledFormat.IDS_PER_WORD - 1));
            int run = Math.min(Integer.numberOfTrailingZeros(~(bits >>> from)), SettledFormat.IDS_PER_WORD - from);
            floor += run;
            settledAboveFloor -= run;
            wholeBlock = run > 0 && from + run == SettledFormat.IDS_PER_WORD;
            bits = wholeBlock ? file.bits(SettledFormat.block(floor + 1)) : 0;
        }
    }

    private long countSettled(long firstId, long lastId) {
        long first = SettledFormat.block(firstId);
        long last = Math.min(SettledFormat.block(lastId), first + file.words() - 1);
        long count = 0;
        for (long block = first; block <= last; block++) {
            int bits = file.bits(block);
            if (block == first) {
                bits &= -SettledFormat.bit(firstId);
            }
            if (block == SettledFormat.block(lastId)) {
                bits &= (SettledFormat.bit(lastId) << 1) - 1;
            }
            count += Integer.bitCount(bits);
        }
        return count;
    }

    /**
     * Brings to disk what was settled when it was made.
     *
     * <p>Threading: made by the pipe's transfer thread, run by an I/O thread, {@link #done} by the transfer thread again.
     */
    public final class Force {
        private final long floorThen = floor;
        private final long changesThen = changes;

        private Force() {}

        /**
         * The header says too that all below the floor is settled: the words of those ids may be overwritten from then on.
         *
         * @throws StoreException if the disk refuses; the next force writes everything again
         */
        public void run() {
            try {
                if (forceFailed) {
                    namedFile.touch();
                }
                if (growingFile != null) {
                    growingFile.settledBelow().raiseTo(floorThen + 1);
                }
                namedFile.settledBelow().raiseTo(floorThen + 1);
                forceFailed = true;
                namedFile.force();
                if (nameUnforced) {
                    SmallFile.forceDirectory(SmallFile.parent(path));
                    SmallFile.forceDirectory(SmallFile.parent(SmallFile.parent(path)));
                    nameUnforced = false;
                }
                forceFailed = false;
            } catch (IOException e) {
                throw ForceFailedException.of("settled ids cannot be forced to disk", path, e);
            }
        }

        /** After a run that threw nothing. */
        public void done() {
            durableFloor = Math.max(durableFloor, floorThen);
            forcedChanges = Math.max(forcedChanges, changesThen);
        }
    }

    /**
     * The steps by which the ring moves to a file twice the size: {@link #copy}, {@link #publish}, {@link #finish}, each by
     * its own thread, in that order; {@link #abandon} instead of finish when publish could not.
     *
     * <p>Threading: handed to and fro between an I/O thread and the pipe's transfer thread.
     */
    public final class Growth {
        private final SettledFile target;
        private long floorAtCopy = -1;
        private boolean named;

        private Growth(SettledFile target) {
            this.target = target;
        }

        /** Copies the window; from now on every store goes to both files. Transfer thread. */
        public void copy() {
            long first = SettledFormat.block(floor + 1);
            for (long block = first; block < first + file.words(); block++) {
                int bits = file.bits(block);
                if (bits != 0) {
                    target.put(block, bits);
                }
            }
            target.deliveredUpTo().raiseTo(deliveredUpTo());
            target.appendedUpTo().raiseTo(appendedUpTo());
            floorAtCopy = floor;
            copy = target;
        }

        /**
         * Forces the new file and gives it the name. What lies below the copied window is in no word of it, and the wider
         * window would not cover it, so its header says so first. I/O thread.
         *
         * @throws StoreException if that cannot be done; abandon is to be called then
         */
        public void publish() {
            if (floorAtCopy < 0) {
                throw new IllegalStateException("the window was not copied yet: path=" + path);
            }
            Path temp = SmallFile.temp(path);
            growingFile = null;
            try {
                target.settledBelow().raiseTo(floorAtCopy + 1);
                target.force();
                Files.move(temp, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                namedFile = target;
                named = true;
                nameUnforced = true;
                SmallFile.forceDirectory(SmallFile.parent(path));
                nameUnforced = false;
            } catch (IOException e) {
                SmallFile.deleteQuietly(temp, e);
                throw SmallFile.failure("settled ids cannot grow", path, e);
            }
        }

        /** Goes on in the new file alone. Transfer thread. */
        public void finish() {
            file = target;
            copy = null;
        }

        /** Goes on in the file that has the name: the old one, unless publish came as far as the rename. Transfer thread. */
        public void abandon() {
            if (named) {
                finish();
            }
            copy = null;
        }
    }
}
