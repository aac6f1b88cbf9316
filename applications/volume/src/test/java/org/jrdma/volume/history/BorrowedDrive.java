package org.jrdma.volume.history;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.Nvme;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.pcie.BorrowedController;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.BorrowedDevice;
import org.jrdma.sisci.smartio.DeviceFilter;
import org.jrdma.sisci.smartio.SmartIo;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.NvmeBlockDrive;
import org.jrdma.volume.drive.ReopeningDrive;
import org.jrdma.volume.model.VolumeException;

/** The drive that the {@link LenderProcess} lends, through a controller of its own. */
final class BorrowedDrive implements Drive {

    private static final int NVME_CLASS = 0x010802;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final int OPEN_ATTEMPTS = 3000;
    private static final int PAUSE_MILLIS = 100;

    private final BorrowedDevice device;
    private final BorrowedController controller;
    private final NvmeBlockDrive drive;

    private BorrowedDrive(
            BorrowedDevice device, BorrowedController controller, NvmeBlockDrive drive) {
        this.device = device;
        this.controller = controller;
        this.drive = drive;
    }

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
                return new ReopeningDrive(() -> borrow(node, host));
            } catch (FabricException e) {
                if (attempt == OPEN_ATTEMPTS) {
                    throw e;
                }
                Thread.sleep(PAUSE_MILLIS);
            }
        }
    }

    /** Borrows the first controller that no other host has borrowed. */
    private static BorrowedDrive borrow(Node node, int host) throws FabricException {
        var smartIo = SmartIo.of(node);
        var reason = "no node lends one";
        for (var found : smartIo.devices(DeviceFilter.ANY.classCode(NVME_CLASS))) {
            try {
                return open(node, smartIo.borrow(found, BorrowMode.EXCLUSIVE), host);
            } catch (FabricException e) {
                reason = e.getMessage();
            }
        }
        throw new VolumeException("Cannot borrow a controller: " + reason);
    }

    private static BorrowedDrive open(Node node, BorrowedDevice device, int host)
            throws FabricException {
        try {
            var controller = BorrowedController.of(node, device);
            try {
                var drive =
                        Nvme.open(
                                controller,
                                NvmeOptions.DEFAULTS
                                        .adminTimeout(TIMEOUT)
                                        .hostIdentifier(HostIdentifier.of(host)));
                return new BorrowedDrive(
                        device,
                        controller,
                        new NvmeBlockDrive(drive, drive.namespaces().getFirst(), TIMEOUT));
            } catch (Throwable e) {
                controller.close();
                throw e;
            }
        } catch (Throwable e) {
            device.close();
            throw e;
        }
    }

    @Override
    public long blocks() {
        return drive.blocks();
    }

    @Override
    public void read(long block, MemorySegment target) throws FabricException {
        drive.read(block, target);
    }

    @Override
    public void write(long block, MemorySegment source) throws FabricException {
        drive.write(block, source);
    }

    @Override
    public void flush() throws FabricException {
        drive.flush();
    }

    @Override
    public Fence fence() {
        return drive.fence();
    }

    @Override
    public void close() {
        drive.close();
        controller.close();
        device.close();
    }

    @Override
    public String toString() {
        return drive.toString();
    }
}
