package org.jrdma.cli;

import picocli.CommandLine.Option;

/** For whom a command prints. */
public final class Output {

    @Option(names = "--json", description = "Print one line of JSON, for programs.")
    private boolean json;

    /** Whether a program reads it. */
    public boolean isJson() {
        return json;
    }
}
