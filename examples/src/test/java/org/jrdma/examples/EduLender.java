package org.jrdma.examples;

import java.nio.file.Path;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.device.EduDevice;

/** A node of the software fabric in a given folder. It lends a device until it is killed. */
final class EduLender {

    private EduLender() {}

    static void main(String... folder) throws Exception {
        var library = new SoftSisci(SoftSisciOptions.in(Path.of(folder[0])));
        try (var _ = Sisci.from(library).open();
                var device = library.lend(new EduDevice())) {
            IO.println("lends device 0x%x".formatted(device.fabricDeviceId()));
            Thread.currentThread().join();
        }
    }
}
