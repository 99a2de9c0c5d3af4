package io.tabletrelay.core;

import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;

/** Standard output for what a command promises to print: {@code System.out} forgets that a write failed. */
final class StandardOutput {
    private StandardOutput() {}

    /**
     * Returns a writer on the process's own file descriptor, so that {@link PrintWriter#checkError()} tells whether the
     * lines before it were taken.
     */
    static PrintWriter writer() {
        FileOutputStream descriptor = new FileOutputStream(FileDescriptor.out);
        return new PrintWriter(new BufferedWriter(new OutputStreamWriter(descriptor, charset())), true);
    }

    /** The terminal's own character set where Java knows of one, under its old or its new name. */
    private static Charset charset() {
        String name = System.getProperty("stdout.encoding", System.getProperty("sun.stdout.encoding", ""));
        return name.isEmpty() ? Charset.defaultCharset() : Charset.forName(name);
    }
}
