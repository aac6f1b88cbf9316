package org.jrdma.volume.drive;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.Nvme;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.pcie.InProcessControllerAccess;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.soft.sisci.device.DeviceBus;
import org.jrdma.soft.sisci.device.DeviceHost;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.jrdma.soft.sisci.device.DeviceModel;

/** A host with a controller of its own, which can stop. */
public final class StoppableNvmeHost implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofMillis(300);

    private static final AtomicLong LAST_HOST = new AtomicLong();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment bar = arena.allocate(0x4000, 4096);
    private final StoppableModel model;
    private final DeviceHost device;
    private InProcessControllerAccess access;
    private NvmeBlockDrive drive;

    /** Starts a controller of a drive and opens it. */
    public StoppableNvmeHost(Subsystem subsystem) throws FabricException {
        model = new StoppableModel(subsystem.newController());
        device = DeviceHost.start(model, List.of(bar));
        open();
    }

    private void open() throws FabricException {
        access = new InProcessControllerAccess(device, bar, 1);
        var nvme =
                Nvme.open(
                        access,
                        NvmeOptions.DEFAULTS
                                .adminTimeout(TIMEOUT)
                                .hostIdentifier(HostIdentifier.of(LAST_HOST.incrementAndGet())));
        drive = new NvmeBlockDrive(nvme, nvme.namespaces().getFirst(), TIMEOUT);
    }

    /** Opens the drive again with the same controller, but as another host, such as a process. */
    public void openAsAnotherHost() throws FabricException {
        drive.close();
        access.close();
        open();
    }

    /** Returns the drive, which is closed with this object. */
    public NvmeBlockDrive drive() {
        return drive;
    }

    /** Returns the number of bytes that the drive has copied between memory. */
    public long copiedBytes() {
        return drive.copiedBytes();
    }

    /** Stops the controller, which can continue later, and waits until its current poll ends. */
    public void stop() {
        model.setStopped(true);
    }

    void resume() {
        model.setStopped(false);
    }

    /** Stops the controller and makes it unreachable. */
    public void disconnect() {
        stop();
        var _ = bar.fill((byte) 0xff);
    }

    @Override
    public void close() {
        drive.close();
        access.close();
        device.close();
        arena.close();
    }

    private static final class StoppableModel implements DeviceModel {

        private final DeviceModel model;
        private boolean isStopped;

        StoppableModel(DeviceModel model) {
            this.model = model;
        }

        @Override
        public DeviceIdentity identity() {
            return model.identity();
        }

        @Override
        public List<Integer> barBytes() {
            return model.barBytes();
        }

        @Override
        public void attach(DeviceBus bus) {
            model.attach(bus);
        }

        synchronized void setStopped(boolean isStopped) {
            this.isStopped = isStopped;
        }

        @Override
        public synchronized boolean poll() {
            return !isStopped && model.poll();
        }

        @Override
        public void detached(int borrower) {
            model.detached(borrower);
        }

        @Override
        public void reset() {
            model.reset();
        }
    }
}
