package io.tabletrelay.core.store.check;

import io.tabletrelay.core.store.SmallFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Copies files most of which is holes: a segment's file is far longer than what is in it. */
final class SparseCopy {
    private static final int CHUNK_BYTES = 64 << 10;
    private static final ByteBuffer ZEROS = ByteBuffer.allocate(CHUNK_BYTES).asReadOnlyBuffer();

    private SparseCopy() {}

    /** When this returns the copy is on disk. It has a hole wherever the file has 64 KiB of zeros. */
    static void copy(Path file, Path copy) throws IOException {
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ);
                FileChannel out = FileChannel.open(copy, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
            long position = 0;
            for (int bytes = in.read(chunk, 0); bytes > 0; bytes = in.read(chunk.clear(), position)) {
                chunk.flip();
                if (chunk.mismatch(ZEROS.duplicate().limit(bytes)) >= 0) {
                    SmallFile.writeFully(out, chunk, position);
                }
                position += bytes;
            }
            if (position > out.size()) {
                out.write(ByteBuffer.allocate(1), position - 1);
            }
            out.force(true);
        }
    }
}
