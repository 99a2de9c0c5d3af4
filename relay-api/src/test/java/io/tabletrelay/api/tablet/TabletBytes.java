package io.tabletrelay.api.tablet;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Writes a tablet's bytes piece by piece, wrong ones too. */
final class TabletBytes {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);

    private interface Write {
        void run() throws IOException;
    }

    TabletBytes string(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return int32(utf8.length).raw(utf8);
    }

    TabletBytes int32(int value) {
        return write(() -> out.writeInt(value));
    }

    TabletBytes int64(long value) {
        return write(() -> out.writeLong(value));
    }

    TabletBytes bytes(int... values) {
        for (int value : values) {
            write(() -> out.writeByte(value));
        }
        return this;
    }

    TabletBytes raw(byte[] values) {
        return write(() -> out.write(values));
    }

    /** A column of the current family; the former one ends before the category. */
    TabletBytes column(String name, int type) {
        return columnOfFormerFamily(name, type).bytes(1);
    }

    TabletBytes columnOfFormerFamily(String name, int type) {
        return bytes(1).string(name).bytes(type, 0, 0).int32(0);
    }

    ByteBuffer done() {
        return ByteBuffer.wrap(bytes.toByteArray());
    }

    private TabletBytes write(Write write) {
        try {
            write.run();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
