package org.jrdma.volume.history;

import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.DeviceFilter;
import org.jrdma.sisci.smartio.SmartIo;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.NvmeBlockDrive;
import org.jrdma.volume.drive.ReopeningDrive;
import org.jrdma.volume.model.VolumeException;

/** Opens the drive that the {@link LenderProcess} lends, through a controller of its own. */
final class BorrowedDrive {

    private static final int NVME_CLASS = 0x010802;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final int OPEN_ATTEMPTS = 3000;
    private static final int PAUSE_MILLIS = 100;

    private BorrowedDrive() {}

    /** Opens the drive as a new node of the fabric. Waits until the lender lends it. */
    static Drive openWhenLent(HistoryVolume volume, int host)
            throws FabricException, InterruptedException {
        return openWhenLent(new SoftSisci(SoftSisciOptions.in(volume.fabric())), host);
    }

    /** Opens the drive as the node of a library. */
    static Drive openWhenLent(SoftSisci library, int host)
            throws FabricException, InterruptedException {
        var node = Sisci.from(library).open();
        for (var attempt = 1; ; attempt++) {
            try {
                return new ReopeningDrive(() -> borrow(node, host), node::close);
            } catch (FabricException e) {
                if (attempt == OPEN_ATTEMPTS) {
                    throw e;
                }
                Thread.sleep(PAUSE_MILLIS);
            }
        }
    }

    /** Borrows the first controller that no other host has borrowed. */
    private static Drive borrow(Node node, int host) throws FabricException {
        var reason = "no node lends one";
        for (var found : SmartIo.of(node).devices(DeviceFilter.ANY.classCode(NVME_CLASS))) {
            try {
                return NvmeBlockDrive.borrow(node, found.id(), HostIdentifier.of(host), TIMEOUT);
            } catch (FabricException e) {
                reason = e.getMessage();
            }
        }
        throw new VolumeException("Cannot borrow a controller: " + reason);
    }
}
