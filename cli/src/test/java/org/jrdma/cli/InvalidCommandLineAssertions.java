package org.jrdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;

/** Runs the command with an invalid command line. */
public final class InvalidCommandLineAssertions {

    private InvalidCommandLineAssertions() {}

    /** Checks that the command rejects words separated by a space, and returns its errors. */
    public static String errors(String words) {
        var errors = new StringWriter();
        assertThat(
                        Jrdma.commandLine()
                                .setErr(new PrintWriter(errors, true))
                                .execute(words.split(" ", -1)))
                .isEqualTo(2);
        return errors.toString();
    }
}
