package org.jrdma.nvme.pcie;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.MappedRegisters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A controller without a driver and without an IOMMU: the registers are those in sysfs, and the
 * memory consists of huge pages.
 */
final class PhysicalController implements ControllerAccess {

    private static final Logger LOG = LoggerFactory.getLogger(PhysicalController.class);

    private final PciFunction function;
    private final Arena arena;
    private final MappedRegisters registers;
    private final HugePages memory = new HugePages();
    private boolean closed;

    private PhysicalController(PciFunction function, Arena arena, MappedRegisters registers) {
        this.function = function;
        this.arena = arena;
        this.registers = registers;
    }

    static PhysicalController open(PciFunction function) throws FabricException {
        function.requirePhysicalAccess();
        function.enable();
        var arena = Arena.ofShared();
        try (var bar =
                FileChannel.open(
                        function.bar(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            var memory = bar.map(FileChannel.MapMode.READ_WRITE, 0, bar.size(), arena);
            return new PhysicalController(function, arena, new MappedRegisters(memory));
        } catch (IOException e) {
            arena.close();
            throw function.failure(function.bar(), e);
        }
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
        return memory.allocate(bytes);
    }

    /**
     * Frees the memory. If memory was not released, the controller may access it. Therefore, its
     * DMA ends first, for all programs.
     *
     * @throws IllegalStateException if a native call uses the memory; this method can be called
     *     again
     */
    @Override
    public synchronized void close() {
        closed = true;
        if (memory.isInUse()) {
            try {
                function.disableDma();
                LOG.warn("Ended the DMA of {}, because it may access memory that is freed", this);
            } catch (FabricException e) {
                LOG.error("Memory that {} may access is not freed: {}", this, e.getMessage());
                return;
            }
        }
        memory.close();
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    @Override
    public String toString() {
        return "the NVMe controller in %s".formatted(function);
    }
}
