package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A disk that forces as asked, writes down what it was asked for, and fails when told.
 *
 * <p>Threading: confined to the test's thread.
 */
final class FaultyDisk implements Forcing {
    /** {@code file}, {@code file+} with metadata, or the name of a directory. */
    final List<String> forces = new ArrayList<>();

    /** This many forces succeed, all later ones fail; negative: none fails. */
    int failsAfter = -1;

    @Override
    public void file(FileChannel channel, boolean metadata) throws IOException {
        count(metadata ? "file+" : "file");
        channel.force(metadata);
    }

    @Override
    public void directory(Path directory) throws IOException {
        count(String.valueOf(directory.getFileName()));
        DISK.directory(directory);
    }

    private void count(String force) throws IOException {
        if (failsAfter == 0) {
            throw new IOException("Input/output error");
        }
        failsAfter--;
        forces.add(force);
    }
}
