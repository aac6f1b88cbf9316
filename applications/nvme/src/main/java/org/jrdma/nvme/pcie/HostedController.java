package org.jrdma.nvme.pcie;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Registers;
import org.jrdma.soft.sisci.device.DeviceHost;

/**
 * Access to a controller in software that a {@link DeviceHost} in this process runs. This object is
 * a borrower of the device.
 */
public final class HostedController implements ControllerAccess {

    private final DeviceHost host;
    private final int borrower;
    private final Registers registers;
    private final Set<Arena> arenas = ConcurrentHashMap.newKeySet();
    private boolean closed;

    /**
     * Attaches a borrower to a device.
     *
     * @param host the host, which the caller closes after this object
     * @param bar the memory of BAR 0 with which the host was started
     * @param borrower the number of the borrower
     * @throws IllegalStateException if the number is in use or the host is closed
     */
    public HostedController(DeviceHost host, MemorySegment bar, int borrower) {
        this.host = host;
        this.borrower = borrower;
        this.registers = new Registers(bar);
        host.attach(borrower);
    }

    @Override
    public Registers registers() {
        return registers;
    }

    @Override
    public synchronized DmaAllocation allocate(long bytes) throws FabricException {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
        var rounded = Math.ceilDiv(bytes, DmaAllocation.PAGE_BYTES) * DmaAllocation.PAGE_BYTES;
        var arena = Arena.ofShared();
        try {
            var memory = arena.allocate(rounded, DmaAllocation.PAGE_BYTES);
            var address = host.map(borrower, memory, DeviceHost.Signal.NONE);
            arenas.add(arena);
            return new DmaAllocation(
                    memory,
                    DmaAllocation.contiguous(address, rounded),
                    () -> release(arena, address));
        } catch (IllegalStateException | IllegalArgumentException | OutOfMemoryError e) {
            arena.close();
            throw new FabricException(
                    "Cannot map %d bytes of memory for %s: %s"
                            .formatted(bytes, this, e.getMessage()),
                    0,
                    e);
        }
    }

    private synchronized void release(Arena arena, long address) {
        if (arenas.remove(arena)) {
            try {
                host.unmap(borrower, address);
            } catch (IllegalStateException _) {
                // the host has been closed, and does not access the memory
            }
            arena.close();
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            host.detach(borrower);
            arenas.forEach(Arena::close);
            arenas.clear();
        }
    }

    @Override
    public String toString() {
        return "the hosted NVMe controller of borrower " + borrower;
    }
}
