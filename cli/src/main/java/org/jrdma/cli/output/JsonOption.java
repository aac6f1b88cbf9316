package org.jrdma.cli.output;

import picocli.CommandLine.Option;

/** The option that selects JSON output. */
public final class JsonOption {

    @Option(names = "--json", description = "Print a line of JSON instead of text.")
    private boolean json;

    /** Returns true if the command prints JSON. */
    public boolean isJson() {
        return json;
    }
}
