package org.example;

import module org.jrdma.verbs;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Prints the number of RDMA devices. The optional argument is the path of a library to use instead
 * of the system's libibverbs.
 */
final class CountDevices {

    void main(String... arguments) throws IOException {
        var verbs = arguments.length == 0 ? Verbs.system() : Verbs.load(Path.of(arguments[0]));
        IO.println("found %s with %d devices".formatted(verbs, verbs.devices().size()));
    }
}
