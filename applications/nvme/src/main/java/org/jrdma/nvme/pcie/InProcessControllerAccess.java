package org.jrdma.nvme.pcie;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.soft.sisci.device.DeviceHost;

/**
 * Access to a controller in software that a {@link DeviceHost} in this process runs. This object is
 * a borrower of the device.
 */
public final class InProcessControllerAccess implements ControllerAccess {

    private static final long NOT_MAPPED = 0;

    private final DeviceHost host;
    private final int borrower;
    private final MappedRegisters registers;
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
    public InProcessControllerAccess(DeviceHost host, MemorySegment bar, int borrower) {
        this.host = host;
        this.borrower = borrower;
        this.registers = new MappedRegisters(bar);
        host.attach(borrower);
    }

    @Override
    public MappedRegisters registers() {
        return registers;
    }

    @Override
    public synchronized DmaAllocation allocate(long bytes) throws FabricException {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
        var rounded = Math.ceilDiv(bytes, Configuration.PAGE_BYTES) * Configuration.PAGE_BYTES;
        var arena = Arena.ofShared();
        var address = NOT_MAPPED;
        try {
            arenas.add(arena); // before the memory is mapped, because close() frees these arenas
            var memory = arena.allocate(rounded, Configuration.PAGE_BYTES);
            address = host.map(borrower, memory, DeviceHost.Signal.NONE);
            return allocation(arena, memory, address);
        } catch (IllegalStateException | IllegalArgumentException | OutOfMemoryError e) {
            release(arena, address);
            throw new FabricException(
                    "Cannot map %d bytes of memory for %s: %s"
                            .formatted(bytes, this, e.getMessage()),
                    0,
                    e);
        }
    }

    private DmaAllocation allocation(Arena arena, MemorySegment memory, long address) {
        return new DmaAllocation(
                memory,
                DmaAllocation.contiguous(address, memory.byteSize()),
                () -> release(arena, address));
    }

    private synchronized void release(Arena arena, long address) {
        if (!arenas.contains(arena)) {
            return; // closed
        }
        if (address != NOT_MAPPED) {
            try {
                host.unmap(borrower, address);
            } catch (IllegalStateException _) {
                // the host has been closed, and does not access the memory
            }
        }
        arena.close();
        arenas.remove(arena);
    }

    /**
     * Ends the access. If a native call uses memory of this access, that memory is freed by the
     * next call of this method.
     *
     * @throws IllegalStateException if a native call uses memory of this access; all other memory
     *     has been freed
     */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            host.detach(borrower);
        }
        IllegalStateException failure = null;
        for (var arena : List.copyOf(arenas)) {
            try {
                arena.close();
                arenas.remove(arena);
            } catch (IllegalStateException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public String toString() {
        return "the in-process NVMe controller of borrower " + borrower;
    }
}
