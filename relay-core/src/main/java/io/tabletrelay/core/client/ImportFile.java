package io.tabletrelay.core.client;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A file cut into requests, at the same places each time: that is what lets an import be resumed.
 *
 * <p>CSV is cut between records, and each request begins with the header; JSON is cut between lines, unless it is one
 * array; anything else is one request.
 *
 * <p>Threading: confined to the thread that opened it.
 */
public final class ImportFile implements AutoCloseable {
    /** A request ends at the first record that reaches this size, though it has fewer rows than asked for. */
    private static final int ENOUGH_BYTES = 4 << 20;

    private static final long LARGEST_WHOLE_BYTES = 256L << 20;

    private final InputStream in;
    private final Cut cut;
    private final int rowsPerRequest;
    private final byte[] header;
    private long line = 1;
    private long readBytes;

    private ImportFile(InputStream in, Cut cut, int rowsPerRequest) throws IOException {
        this.in = in;
        this.cut = cut;
        this.rowsPerRequest = rowsPerRequest;
        this.header = cut == Cut.CSV ? record(new Body()).toByteArray() : new byte[0];
    }

    /** Opens the file at its start. */
    public static ImportFile open(Path file, String type, int rowsPerRequest) throws IOException {
        InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
        try {
            Cut cut = Cut.of(type, in);
            if (cut == Cut.WHOLE && Files.size(file) > LARGEST_WHOLE_BYTES) {
                throw new IOException("file is too large for one request: file=" + file + ", bytes=" + Files.size(file)
                        + ", limit=" + LARGEST_WHOLE_BYTES);
            }
            return new ImportFile(in, cut, rowsPerRequest);
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    /**
     * Returns a name that is the same for the same content cut the same way, and for nothing else: the producer whose
     * sequences count the requests.
     */
    public static String fingerprint(Path file, String type, int rowsPerRequest, Map<String, String> options)
            throws IOException {
        MessageDigest digest = sha256();
        String how = type + '\0' + rowsPerRequest + '\0' + new TreeMap<>(options) + '\0';
        digest.update(how.getBytes(StandardCharsets.UTF_8));
        try (InputStream in = Files.newInputStream(file)) {
            byte[] buffer = new byte[1 << 16];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                digest.update(buffer, 0, n);
            }
        }
        return "import-" + HexFormat.of().formatHex(digest.digest(), 0, 12);
    }

    /** Reads the next request, or null at the file's end. */
    public @Nullable Request next() throws IOException {
        long firstLine = line;
        Body body = new Body();
        body.writeBytes(header);
        body.endLine();
        int rows = 0;
        while (rows < rowsPerRequest && (body.size() < ENOUGH_BYTES || cut == Cut.WHOLE)) {
            int before = body.size();
            record(body);
            if (body.size() == before) {
                break;
            }
            rows += body.isBlankFrom(before) ? 0 : 1;
        }
        return rows == 0 ? null : new Request(ByteBuffer.wrap(body.toByteArray()), rows, firstLine, header.length > 0);
    }

    /** How far into the file the last request reached. */
    public long readBytes() {
        return readBytes;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    /** Appends one record with its line end; nothing at the file's end. */
    private Body record(Body to) throws IOException {
        boolean quoted = false;
        boolean fieldStart = true;
        for (int b = read(); b >= 0; b = read()) {
            to.write(b);
            if (b == '\n') {
                line++;
            }
            if (cut == Cut.WHOLE) {
                continue;
            }
            if (cut == Cut.CSV && b == '"' && (quoted || fieldStart)) {
                quoted = !quoted;
                // a quote right behind the closing one opens again: that is how a quote is written inside quotes
                fieldStart = true;
                continue;
            }
            if (!quoted && (b == '\n' || (b == '\r' && endsAtCarriageReturn(to)))) {
                break;
            }
            fieldStart = b == ',';
        }
        return to;
    }

    /** True for an old line end without a line feed; takes the line feed of the usual one. */
    private boolean endsAtCarriageReturn(Body to) throws IOException {
        in.mark(1);
        int b = in.read();
        if (b == '\n') {
            readBytes++;
            to.write(b);
        } else if (b >= 0) {
            in.reset();
        }
        line++;
        return true;
    }

    private int read() throws IOException {
        int b = in.read();
        readBytes += b < 0 ? 0 : 1;
        return b;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static final class Body extends ByteArrayOutputStream {
        /** A header that ends with the file has no line end of its own. */
        void endLine() {
            if (count > 0 && buf[count - 1] != '\n' && buf[count - 1] != '\r') {
                write('\n');
            }
        }

        boolean isBlankFrom(int from) {
            for (int i = from; i < count; i++) {
                if (buf[i] > ' ' || buf[i] < 0) {
                    return false;
                }
            }
            return true;
        }
    }

    private enum Cut {
        CSV,
        LINES,
        WHOLE;

        static Cut of(String type, InputStream in) throws IOException {
            return switch (type) {
                case "csv" -> CSV;
                case "json" -> startsArray(in) ? WHOLE : LINES;
                default -> WHOLE;
            };
        }

        private static boolean startsArray(InputStream in) throws IOException {
            in.mark(4096);
            int b = in.read();
            for (int i = 1; i < 4096 && (b == ' ' || b == '\n' || b == '\r' || b == '\t'); i++) {
                b = in.read();
            }
            in.reset();
            return b == '[';
        }
    }

    /**
     * The body of one request.
     *
     * @param body a whole array
     * @param firstLine line of the file, from 1, on which the first row stands
     */
    public record Request(ByteBuffer body, int rows, long firstLine, boolean withHeader) {
        /** The file's line for a line of the body. */
        public long fileLine(long bodyLine) {
            if (!withHeader) {
                return firstLine + bodyLine - 1;
            }
            return bodyLine <= 1 ? 1 : firstLine + bodyLine - 2;
        }
    }
}
