package org.jrdma.soft.sisci.abi;

import java.nio.file.Path;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.SoftSisciOptions;

/** A program that tries to join a fabric while its JVM is exiting. */
final class JoinDuringExit {

    private JoinDuringExit() {}

    static void main(String... arguments) {
        var options = SoftSisciOptions.in(Path.of(arguments[0]));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> join(options)));
    }

    private static void join(SoftSisciOptions options) {
        var self = new LibraryCaller(options);
        self.call("SCIInitialize", 0);
        IO.println(self.error() == sisci_h.SCI_ERR_SYSTEM() ? "refused" : "error " + self.error());
    }
}
