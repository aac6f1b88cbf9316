package org.jrdma.soft.sisci.abi;

import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.soft.sisci.SoftSisciOptions;

/** A program that uses the memory of another process in a shutdown hook. */
final class UseDuringExit {

    /** The time after which the library's own shutdown hook has surely run. */
    private static final Duration PAUSE = Duration.ofMillis(500);

    private UseDuringExit() {}

    static void main(String... arguments) throws Exception {
        var self = LibraryCaller.in(SoftSisciOptions.in(Path.of(arguments[0])));
        var descriptor = self.open();
        var node = Integer.parseInt(arguments[1]);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> use(self, descriptor, node)));
    }

    private static void use(LibraryCaller self, long descriptor, int node) {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        var segment = self.connect(descriptor, node, Peer.SEGMENT);
        var mapped = self.mapRemote(segment, Peer.BYTES);
        IO.println("mapped %d bytes".formatted(mapped.memory().byteSize()));
    }
}
