package io.tabletrelay.core;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import picocli.CommandLine;

/** One command line, run inside the test's process: what it printed, and its exit code. */
record CommandRun(int exitCode, String out, String err) {
    static CommandRun of(String... arguments) {
        return with(Map.of(), arguments);
    }

    static CommandRun with(Map<String, String> environment, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine relay = RelayMain.commandLine(environment);
        relay.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        int exitCode = relay.execute(arguments);
        return new CommandRun(exitCode, out.toString(), err.toString());
    }
}
