package org.jrdma.cli.output;

import picocli.CommandLine.Option;

/** The option that selects between text for people and JSON for programs. */
public final class Output {

    @Option(names = "--json", description = "Print one line of JSON, for programs.")
    private boolean json;

    /** Whether the command prints JSON. */
    public boolean isJson() {
        return json;
    }
}
