package org.jrdma.nvme;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.pcie.ControllerAccess;
import org.jrdma.nvme.pcie.DmaAllocation;
import org.jrdma.nvme.pcie.InProcessControllerAccess;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.FailureRecordingDeviceModel;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.soft.sisci.device.DeviceHost;

/** A controller in software in this process, and the access to it. Records all allocations. */
final class DriveHarness implements ControllerAccess {

    static final int BLOCKS = 16_384;
    static final int BLOCK_BYTES = 512;

    private final Arena arena = Arena.ofShared();
    private final List<BlockStorage> storages;
    private final Subsystem subsystem;
    private final FailureRecordingDeviceModel model;
    private final DeviceHost host;
    private final InProcessControllerAccess access;
    private boolean failsReleases;
    final List<DmaAllocation> allocations = new ArrayList<>();

    DriveHarness() {
        this(
                new Subsystem("serial 7", "jrdma drive"),
                List.of(
                        BlockStorage.inMemory(BLOCKS, BLOCK_BYTES),
                        BlockStorage.inMemory(1000, 4096)));
    }

    /** Creates a harness with another controller for the namespaces of this one. */
    DriveHarness other() {
        return new DriveHarness(subsystem, List.of());
    }

    DriveHarness(Subsystem subsystem, List<BlockStorage> storages) {
        this.subsystem = subsystem;
        this.storages = storages;
        storages.forEach(subsystem::addNamespace);
        var bar = arena.allocate(0x4000, 4096);
        model = new FailureRecordingDeviceModel(subsystem.newController());
        host = DeviceHost.start(model, List.of(bar));
        access = new InProcessControllerAccess(host, bar, 1);
    }

    NvmeDrive open() throws FabricException {
        return open(NvmeOptions.DEFAULTS);
    }

    NvmeDrive open(NvmeOptions options) throws FabricException {
        return Nvme.open(this, options);
    }

    /** Stops the controller without any sign in its registers. */
    void stopController() {
        model.stop();
    }

    void resumeController() {
        model.resume();
    }

    DeviceHost host() {
        return host;
    }

    @Override
    public MappedRegisters registers() {
        return access.registers();
    }

    @Override
    public synchronized DmaAllocation allocate(long bytes) throws FabricException {
        var allocation = access.allocate(bytes);
        allocations.add(allocation);
        return failsReleases ? withFailingRelease(allocation) : allocation;
    }

    private static DmaAllocation withFailingRelease(DmaAllocation allocation) {
        var pages = Math.toIntExact(allocation.memory().byteSize() / Configuration.PAGE_BYTES);
        return new DmaAllocation(
                allocation.memory(),
                IntStream.range(0, pages).mapToLong(allocation::pageAddress).toArray(),
                () -> {
                    throw new IllegalStateException("simulated");
                });
    }

    /** Lets the release of all further allocations fail, as if a native call used them. */
    synchronized void failReleases() {
        failsReleases = true;
    }

    /** Returns the number of allocations that were not freed. */
    synchronized long allocated() {
        return allocations.stream().filter(each -> each.memory().scope().isAlive()).count();
    }

    @Override
    public String toString() {
        return "the test controller";
    }

    @Override
    public void close() {
        access.close();
        host.close();
        storages.forEach(BlockStorage::close);
        if (arena.scope().isAlive()) {
            arena.close();
        }
        model.assertNoFailure();
    }
}
