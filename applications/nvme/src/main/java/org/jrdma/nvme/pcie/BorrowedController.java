package org.jrdma.nvme.pcie;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.MapOptions;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.smartio.BorrowedDevice;
import org.jrdma.sisci.smartio.DeviceMapping;

/**
 * Access to a controller that this node has borrowed by SmartIO. The memory consists of private
 * segments of this node, which are mapped for the device. The I/O addresses of each allocation are
 * contiguous.
 *
 * <p>If the lender fails, the registers read as all ones, and the driver reports that the
 * controller is unreachable.
 */
public final class BorrowedController implements ControllerAccess {

    private static final int REGISTERS_BAR = 0;

    /** The lowest segment id for memory, far from the small ids that programs choose. */
    private static final int FIRST_SEGMENT = 0x4e56_0000;

    private final Node node;
    private final BorrowedDevice device;
    private final RemoteSegment bar;
    private final RemoteMap barMap;
    private final Set<Allocation> allocations = ConcurrentHashMap.newKeySet();
    private boolean closed;

    /** Memory, with the objects that would be reported as leaked if nothing referred to them. */
    private record Allocation(LocalSegment segment, LocalMap map, DeviceMapping mapping) {}

    private BorrowedController(
            Node node, BorrowedDevice device, RemoteSegment bar, RemoteMap barMap) {
        this.node = node;
        this.device = device;
        this.bar = bar;
        this.barMap = barMap;
    }

    /**
     * Maps the registers of a borrowed controller.
     *
     * @param node the node that borrowed the device, and provides the memory
     * @param device the device, which the caller returns after this object is closed
     * @throws FabricException if BAR 0 of the device cannot be mapped
     */
    public static BorrowedController of(Node node, BorrowedDevice device) throws FabricException {
        var bar = device.bar(REGISTERS_BAR);
        try {
            return new BorrowedController(
                    node, device, bar, bar.map(MapOptions.WHOLE.with(MapOptions.Flag.UNCACHED)));
        } catch (Throwable e) {
            bar.close();
            throw e;
        }
    }

    @Override
    public MappedRegisters registers() {
        return new MappedRegisters(barMap.segment());
    }

    @Override
    public synchronized DmaAllocation allocate(long bytes) throws FabricException {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
        var rounded = Math.ceilDiv(bytes, Configuration.PAGE_BYTES) * Configuration.PAGE_BYTES;
        var segment =
                node.newSegment(SegmentOptions.withFreeId(FIRST_SEGMENT, rounded).asPrivate());
        try {
            segment.prepare();
            var allocation = new Allocation(segment, segment.map(), device.map(segment));
            allocations.add(allocation);
            return new DmaAllocation(
                    allocation.map().segment().fill((byte) 0),
                    DmaAllocation.contiguous(allocation.mapping().ioAddress(), rounded),
                    () -> release(allocation));
        } catch (Throwable e) {
            segment.close();
            throw e;
        }
    }

    /** Unmaps a segment for the device, which closing it does first, and removes it. */
    private void release(Allocation allocation) {
        if (allocations.remove(allocation)) {
            allocation.segment().close();
        }
    }

    /**
     * Unmaps all memory for the device, frees it, and then unmaps the registers. The device remains
     * borrowed.
     */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            allocations.forEach(this::release);
            bar.close();
        }
    }

    @Override
    public String toString() {
        return "the NVMe controller in %s".formatted(device);
    }
}
