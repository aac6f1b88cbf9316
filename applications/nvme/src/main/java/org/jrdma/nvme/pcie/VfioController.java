package org.jrdma.nvme.pcie;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.MappedRegisters;

/**
 * A controller that belongs to the driver vfio-pci. An IOMMU confines it to the allocated memory.
 */
final class VfioController implements ControllerAccess {

    private static final long VFIO_SET_IOMMU = 0x3b66;
    private static final long VFIO_GROUP_GET_STATUS = 0x3b67;
    private static final long VFIO_GROUP_SET_CONTAINER = 0x3b68;
    private static final long VFIO_GROUP_GET_DEVICE_FD = 0x3b6a;
    private static final long VFIO_DEVICE_GET_REGION_INFO = 0x3b6c;
    private static final long VFIO_IOMMU_MAP_DMA = 0x3b71;
    private static final long VFIO_IOMMU_UNMAP_DMA = 0x3b72;

    private static final int TYPE_1 = 1;
    private static final int VIABLE = 1;
    private static final int READ_WRITE = 3;
    private static final int CONFIGURATION_REGION = 7;

    private static final Path FOLDER = Path.of("/dev/vfio");

    /** The lowest I/O address, above the addresses that the machine uses for interrupts. */
    private static final long FIRST_ADDRESS = 1L << 32;

    private final PciFunction function;
    private final List<OpenFile> files;
    private final OpenFile container;
    private final Arena arena;
    private final MappedRegisters registers;
    private final TreeMap<Long, Allocation> allocations = new TreeMap<>();
    private boolean closed;

    private record Allocation(Arena arena, long address, long bytes) {}

    /** A part of a device file: the memory of a BAR, or the configuration space. */
    private record Region(long offset, long bytes) {}

    private VfioController(
            PciFunction function,
            OpenFile device,
            OpenFile group,
            OpenFile container,
            Arena arena,
            MappedRegisters registers) {
        this.function = function;
        this.files = List.of(device, group, container);
        this.container = container;
        this.arena = arena;
        this.registers = registers;
    }

    static VfioController open(PciFunction function) throws FabricException {
        var container = openFile(function, FOLDER.resolve("vfio"));
        try {
            var group = openGroup(function);
            try {
                join(function, group, container);
                var device = openDevice(function, group);
                try {
                    return open(function, device, group, container);
                } catch (Throwable e) {
                    device.close();
                    throw e;
                }
            } catch (Throwable e) {
                group.close();
                throw e;
            }
        } catch (Throwable e) {
            container.close();
            throw e;
        }
    }

    private static OpenFile openGroup(PciFunction function) throws FabricException {
        var number =
                function.iommuGroup()
                        .orElseThrow(() ->
                                new FabricException(
                                        "%s has no IOMMU group. Enable the IOMMU of this machine (intel_iommu=on), or use the function without a driver."
                                                .formatted(function)));
        return openFile(function, FOLDER.resolve(number));
    }

    private static OpenFile openFile(PciFunction function, Path path) throws FabricException {
        try {
            return OpenFile.forWriting(path);
        } catch (FabricException e) {
            var remedy =
                    switch (e.code()) {
                        case Errno.EBUSY ->
                                " Another process uses the group; only one process can open it.";
                        case Errno.EACCES ->
                                " Give this user access with: chown USER %s".formatted(path);
                        case Errno.ENOENT -> " Load the driver with: modprobe vfio-pci";
                        default -> "";
                    };
            throw new FabricException(
                    "Cannot open %s: %s.%s".formatted(function, e.getMessage(), remedy),
                    e.code(),
                    e);
        }
    }

    /** Adds the group to the container, whose I/O addresses the kernel then manages. */
    private static void join(PciFunction function, OpenFile group, OpenFile container)
            throws FabricException {
        try (var local = Arena.ofConfined()) {
            var status = local.allocate(JAVA_INT, 2);
            status.setAtIndex(JAVA_INT, 0, (int) status.byteSize());
            control(group, "VFIO_GROUP_GET_STATUS", VFIO_GROUP_GET_STATUS, status);
            if ((status.getAtIndex(JAVA_INT, 1) & VIABLE) == 0) {
                throw new FabricException(
                        "Cannot open %s: other drivers use functions of its IOMMU group %s. Bind all functions of the group to vfio-pci."
                                .formatted(function, function.iommuGroup().orElse("?")));
            }
            control(
                    group,
                    "VFIO_GROUP_SET_CONTAINER",
                    VFIO_GROUP_SET_CONTAINER,
                    local.allocateFrom(JAVA_INT, container.number()));
            control(container, "VFIO_SET_IOMMU", VFIO_SET_IOMMU, MemorySegment.ofAddress(TYPE_1));
        }
    }

    private static OpenFile openDevice(PciFunction function, OpenFile group)
            throws FabricException {
        try (var local = Arena.ofConfined()) {
            return OpenFile.of(
                    control(
                            group,
                            "VFIO_GROUP_GET_DEVICE_FD",
                            VFIO_GROUP_GET_DEVICE_FD,
                            local.allocateFrom(function.address())));
        }
    }

    private static VfioController open(
            PciFunction function, OpenFile device, OpenFile group, OpenFile container)
            throws FabricException {
        enable(device);
        var bar = region(device, 0);
        var arena = Arena.ofShared();
        try {
            var memory = LinuxCalls.mapFile(device.number(), bar.offset(), bar.bytes(), arena);
            return new VfioController(
                    function, device, group, container, arena, new MappedRegisters(memory));
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
    }

    private static void enable(OpenFile device) throws FabricException {
        try (var local = Arena.ofConfined()) {
            var offset = region(device, CONFIGURATION_REGION).offset() + PciFunction.COMMAND;
            var command = local.allocate(JAVA_SHORT);
            var _ = LinuxCalls.readAt(device.number(), command, offset);
            command.set(JAVA_SHORT, 0, (short) (command.get(JAVA_SHORT, 0) | PciFunction.ENABLED));
            var _ = LinuxCalls.writeAt(device.number(), command, offset);
        }
    }

    private static Region region(OpenFile device, int index) throws FabricException {
        try (var local = Arena.ofConfined()) {
            var info = local.allocate(32, Long.BYTES);
            info.set(JAVA_INT, 0, (int) info.byteSize());
            info.set(JAVA_INT, 8, index);
            control(device, "VFIO_DEVICE_GET_REGION_INFO", VFIO_DEVICE_GET_REGION_INFO, info);
            return new Region(info.get(JAVA_LONG, 24), info.get(JAVA_LONG, 16));
        }
    }

    private static int control(OpenFile file, String name, long command, MemorySegment argument)
            throws FabricException {
        return LinuxCalls.controlDevice(file.number(), name, command, argument);
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
        var memoryArena = Arena.ofShared();
        try {
            var memory = LinuxCalls.mapPages(rounded, memoryArena);
            var allocation = new Allocation(memoryArena, freeAddress(rounded), rounded);
            map(memory, allocation);
            allocations.put(allocation.address(), allocation);
            return new DmaAllocation(
                    memory,
                    DmaAllocation.contiguous(allocation.address(), rounded),
                    () -> release(allocation));
        } catch (Throwable e) {
            memoryArena.close();
            throw e;
        }
    }

    /** Returns the lowest I/O address of a free range. */
    private long freeAddress(long bytes) {
        var address = FIRST_ADDRESS;
        for (var allocation : allocations.values()) {
            if (allocation.address() - address >= bytes) {
                break;
            }
            address = allocation.address() + allocation.bytes();
        }
        return address;
    }

    private void map(MemorySegment memory, Allocation allocation) throws FabricException {
        try (var local = Arena.ofConfined()) {
            var request = local.allocate(32, Long.BYTES);
            request.set(JAVA_INT, 0, (int) request.byteSize());
            request.set(JAVA_INT, 4, READ_WRITE);
            request.set(JAVA_LONG, 8, memory.address());
            request.set(JAVA_LONG, 16, allocation.address());
            request.set(JAVA_LONG, 24, allocation.bytes());
            control(container, "VFIO_IOMMU_MAP_DMA", VFIO_IOMMU_MAP_DMA, request);
        } catch (FabricException e) {
            throw new FabricException(
                    "Cannot map %d bytes of memory for %s: %s.%s"
                            .formatted(
                                    allocation.bytes(),
                                    this,
                                    e.getMessage(),
                                    e.code() == Errno.ENOMEM
                                            ? " Raise the limit of locked memory with: ulimit -l unlimited"
                                            : ""),
                    e.code(),
                    e);
        }
    }

    private synchronized void release(Allocation allocation) {
        if (allocations.containsKey(allocation.address())) {
            unmap(allocation);
            allocation.arena().close();
            allocations.remove(allocation.address());
        }
    }

    private void unmap(Allocation allocation) {
        try (var local = Arena.ofConfined()) {
            var request = local.allocate(24, Long.BYTES);
            request.set(JAVA_INT, 0, (int) request.byteSize());
            request.set(JAVA_LONG, 8, allocation.address());
            request.set(JAVA_LONG, 16, allocation.bytes());
            control(container, "VFIO_IOMMU_UNMAP_DMA", VFIO_IOMMU_UNMAP_DMA, request);
        } catch (FabricException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /**
     * Closes the device, after which it cannot access memory, and then frees the memory.
     *
     * @throws IllegalStateException if a native call uses the memory; this method can be called
     *     again
     */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            arena.close();
            files.forEach(OpenFile::close);
        }
        for (var allocation : List.copyOf(allocations.values())) {
            allocation.arena().close();
            allocations.remove(allocation.address());
        }
    }

    @Override
    public String toString() {
        return "the NVMe controller in %s".formatted(function);
    }
}
