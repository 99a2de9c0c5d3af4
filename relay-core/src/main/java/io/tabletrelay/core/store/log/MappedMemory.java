package io.tabletrelay.core.store.log;

import java.nio.MappedByteBuffer;
import net.openhft.chronicle.core.io.IOTools;

/**
 * Mapped memory is given back by the garbage collector, whenever that runs: a process that opens and closes many files would
 * run out of mappings before.
 *
 * <p>Threading: without state.
 */
public final class MappedMemory {
    private MappedMemory() {}

    /** Gives it back now. Whoever touches the buffer afterwards, or a view of it, ends the process. */
    public static void unmap(MappedByteBuffer map) {
        IOTools.clean(map);
    }
}
