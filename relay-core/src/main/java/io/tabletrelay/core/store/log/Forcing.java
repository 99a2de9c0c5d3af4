package io.tabletrelay.core.store.log;

import io.tabletrelay.core.store.SmallFile;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * How bytes get from the page cache to the disk. Chronicle's own way is not used: it syncs one chunk of its file at most, and
 * by default nothing.
 *
 * <p>Threading: its callers are I/O threads.
 */
interface Forcing {
    Forcing DISK = new Forcing() {
        @Override
        public void file(FileChannel channel, boolean metadata) throws IOException {
            channel.force(metadata);
        }

        @Override
        public void directory(Path directory) throws IOException {
            SmallFile.forceDirectory(directory);
        }
    };

    /** All that was written to the file before the call, also through mapped pages, is on disk when this returns. */
    void file(FileChannel channel, boolean metadata) throws IOException;

    /** The directory's names are on disk when this returns. */
    void directory(Path directory) throws IOException;
}
