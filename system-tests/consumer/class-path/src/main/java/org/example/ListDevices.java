package org.example;

import java.io.IOException;
import java.nio.file.Path;
import org.jrdma.verbs.Verbs;

/** Counts the RDMA devices of this machine, with the system's libibverbs or the one in a file. */
final class ListDevices {

    void main(String... arguments) throws IOException {
        var verbs = arguments.length == 0 ? Verbs.system() : Verbs.load(Path.of(arguments[0]));
        IO.println("found %s with %d devices".formatted(verbs, verbs.devices().size()));
    }
}
