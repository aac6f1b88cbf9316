package org.jrdma.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/** Runs the command in this process. */
public final class JrdmaInProcess {

    private JrdmaInProcess() {}

    /** Runs a command, and returns its exit code. */
    public static int run(StringWriter output, StringWriter errors, String... words) {
        return Jrdma.commandLine()
                .setOut(new PrintWriter(output, true))
                .setErr(new PrintWriter(errors, true))
                .execute(words);
    }
}
