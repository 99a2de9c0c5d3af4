package io.tabletrelay.core;

import io.tabletrelay.api.PipeName;
import io.tabletrelay.core.client.RelayHttp;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code relay publish}: one request with the bytes of a file or of standard input, tried once.
 *
 * <p>Threading: confined to the thread that runs the command.
 */
@Command(name = "publish", description = "Publishes a file, or what comes in on standard input, to a pipe.")
final class PublishCommand implements Callable<Integer> {
    @Mixin
    private final ServerOption server = new ServerOption();

    @Option(names = "--pipe", required = true, description = "the pipe; created if it is not there")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private PipeName pipe;

    @Option(names = "--type", required = true, description = "what the bytes are: json, csv, iotdb-tablet, bytes …")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private String type;

    @Option(names = "--option", paramLabel = "KEY=VALUE", description = "told to the type's serializer; repeatable")
    private final Map<String, String> options = new LinkedHashMap<>();

    @Parameters(paramLabel = "FILE", defaultValue = "-", description = "what to publish; - is standard input")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private String file;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        RelayHttp http = server.http();
        RelayHttp.Stored stored = publish(http, ByteBuffer.wrap(body()));
        spec.commandLine()
                .getOut()
                .println("published: pipe=" + pipe + ", events=" + stored.count() + ", ids=" + stored.firstId() + "-"
                        + stored.lastId());
        return 0;
    }

    private RelayHttp.Stored publish(RelayHttp http, ByteBuffer body) throws InterruptedException {
        try {
            return http.publish(pipe.value(), type, options, body, null);
        } catch (IOException unreachable) {
            throw new CommandException(RelayMain.UNREACHABLE, String.valueOf(unreachable.getMessage()));
        }
    }

    private byte[] body() throws IOException {
        return file.equals("-") ? System.in.readAllBytes() : Files.readAllBytes(existing(Path.of(file)));
    }

    static Path existing(Path file) {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new CommandException(RelayMain.FAILED, "cannot read the file: file=" + file);
        }
        return file;
    }
}
