package org.jrdma.cli;

import picocli.CommandLine.Option;

/** For whom a command prints. */
final class Output {

    @Option(names = "--json", description = "Print one line of JSON, for programs.")
    private boolean json;

    boolean isJson() {
        return json;
    }
}
