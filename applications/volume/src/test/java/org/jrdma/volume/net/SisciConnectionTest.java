package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

final class SisciConnectionTest extends NodeConnectionContract {

    @Override
    TransportKind transport() {
        return TransportKind.SISCI;
    }

    /** The directory of the fabric has files for all open objects. */
    @Override
    void assertNothingIsOpen() {
        var directory = Path.of(System.getProperty("jrdma.sisci.fabric")).toFile();
        var deadline = TestRequestHandler.deadline();
        while (directory.list().length > 0 && !deadline.hasPassed()) {
            Thread.onSpinWait();
        }
        assertThat(directory.list()).isEmpty();
    }
}
