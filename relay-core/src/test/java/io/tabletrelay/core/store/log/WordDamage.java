package io.tabletrelay.core.store.log;

import java.io.IOException;
import java.io.RandomAccessFile;

/** What may become of the word before a record, by which Chronicle finds the next one. */
enum WordDamage {
    ZERO,
    UNFINISHED,
    NOT_OURS,
    LONGER,
    SHORTER,
    HUGE,
    END_MARK;

    void to(RandomAccessFile file, int position) throws IOException {
        file.seek(position);
        int word = Integer.reverseBytes(file.readInt());
        file.seek(position);
        file.writeInt(Integer.reverseBytes(changed(word)));
    }

    private int changed(int word) {
        return switch (this) {
            case ZERO -> 0;
            case UNFINISHED -> word | 0x8000_0000;
            case NOT_OURS -> word | 0x4000_0000;
            case LONGER -> word + 4;
            case SHORTER -> word - 4;
            case HUGE -> 0x3FFF_FFFF;
            case END_MARK -> 0xC000_0000;
        };
    }
}
