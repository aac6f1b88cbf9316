package org.jrdma.verbs.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.SegmentChecks;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.MemoryRegistration;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.DeviceMemoryFunctions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;

/**
 * Memory on the device itself. After a part of the memory has been {@linkplain
 * org.jrdma.verbs.ProtectionDomain#registerDeviceMemory(DeviceMemory, long, long, Access...)
 * registered}, work requests and peers can use the resulting region like any other region, and the
 * data does not cross the bus between the device and the machine's memory. This process can access
 * the memory only by {@link #write} and {@link #read}, which copy.
 *
 * <p>Owned by its {@link org.jrdma.verbs.Device}. Closing the memory closes its regions. Safe for
 * use by multiple threads. In C: {@code struct ibv_dm}; {@link #close()} is {@code ibv_free_dm}.
 */
public final class DeviceMemory extends NativeObject {

    private final DeviceHandle device;
    private final NativeResource memory;
    private final long length;

    private DeviceMemory(DeviceHandle device, long length, NativeResource memory) {
        super(memory.address(), memory.lifetime());
        this.device = device;
        this.memory = memory;
        this.length = length;
    }

    static DeviceMemory allocate(DeviceHandle device, long length, long alignment)
            throws VerbsException {
        checkLength(length);
        if (Long.bitCount(alignment) != 1 || alignment < 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT, "The alignment must be a power of two: %,d", alignment));
        }
        var functions = device.library().deviceMemory();
        var context = device.context();
        return device.call(() -> {
            var address =
                    functions.allocateDeviceMemory(
                            context,
                            length,
                            Long.numberOfTrailingZeros(alignment),
                            new CheckedCall(
                                    "ibv_alloc_dm",
                                    () ->
                                            String.format(
                                                    Locale.ROOT,
                                                    "for %,d bytes on %s",
                                                    length,
                                                    device.name()),
                                    DeviceMemory::advice));
            return new DeviceMemory(
                    device,
                    length,
                    NativeResource.of(
                            address,
                            name("device memory", length, device),
                            List.of(device.lifetime()),
                            "ibv_free_dm",
                            (made, attempt) -> functions.freeDeviceMemory(context, made, attempt)));
        });
    }

    static DeviceMemory importFrom(DeviceHandle device, int handle, long length)
            throws VerbsException {
        checkLength(length);
        var functions = device.library().deviceMemory();
        return device.call(() -> {
            var address =
                    functions.importDeviceMemory(
                            device.address(),
                            handle,
                            CheckedCall.to(
                                    "ibv_import_dm",
                                    () -> "%d on %s".formatted(handle, device.name())));
            return new DeviceMemory(
                    device,
                    length,
                    NativeResource.of(
                            address,
                            name("imported device memory", length, device),
                            List.of(device.lifetime()),
                            "ibv_unimport_dm",
                            (made, _) -> functions.unimportDeviceMemory(made)));
        });
    }

    private static String name(String kind, long length, DeviceHandle device) {
        return String.format(Locale.ROOT, "%s of %,d bytes on %s", kind, length, device.name());
    }

    private static void checkLength(long length) {
        if (length <= 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT, "The length must be at least one byte: %,d", length));
        }
    }

    /** Registers a part of this memory in a protection domain of the same device. */
    MemoryRegion register(DomainHandle domain, long offset, long bytes, Set<Access> access)
            throws VerbsException {
        if (device != domain.device()) {
            throw new IllegalArgumentException(
                    this + " and " + domain + " are on different devices");
        }
        return new MemoryRegion(
                MemoryRegistration.ofDevice(domain, this, memory, length, offset, bytes, access));
    }

    private static String advice(int errno) {
        return errno == Errno.EOPNOTSUPP
                ? "The device has no allocatable memory."
                : "See ExtendedDeviceAttributes.deviceMemoryBytes() for the memory of the device.";
    }

    /**
     * The number of this memory in the kernel, which another process passes to {@link
     * org.jrdma.verbs.Device#importDeviceMemory}.
     */
    public int handle() {
        try (var _ = lifetime().held()) {
            return DeviceMemoryFunctions.deviceMemoryHandle(address());
        }
    }

    /**
     * Exports the memory as a dma-buf, which drivers of other devices can use. In C: {@code
     * ibv_dm_export_dmabuf_fd}.
     *
     * @return the dma-buf, which the caller must close. It remains valid after this object is
     *     closed
     * @throws VerbsException with EOPNOTSUPP if the library or the device does not support dma-bufs
     */
    public ExportedDmaBuf exportDmaBuf() throws VerbsException {
        try (var _ = lifetime().held()) {
            var descriptor =
                    BlockingCalls.call(() ->
                            device.library()
                                    .deviceMemory()
                                    .exportDmaBuf(
                                            address(),
                                            CheckedCall.to(
                                                    "ibv_dm_export_dmabuf_fd",
                                                    () -> "for " + this)));
            return new ExportedDmaBuf(OpenFile.of(descriptor));
        }
    }

    /** The length of the memory in bytes. */
    public long length() {
        return length;
    }

    /**
     * Copies the bytes of {@code source} to this memory, starting at {@code offset}. Does not
     * block. In C: {@code ibv_memcpy_to_dm}.
     *
     * @throws IndexOutOfBoundsException if the target range exceeds this memory
     * @throws IllegalStateException if the memory of {@code source} was freed
     * @throws WrongThreadException if {@code source} belongs to another thread
     * @throws VerbsException if the device rejects the copy; on some devices, the offset and the
     *     length must be multiples of 4
     */
    public void write(long offset, MemorySegment source) throws VerbsException {
        Objects.checkFromIndexSize(offset, source.byteSize(), length);
        copy(
                "ibv_memcpy_to_dm",
                offset,
                source,
                (functions, attempt) -> {
                    try (var arena = Arena.ofConfined()) {
                        var bytes = source.isNative() ? source : arena.allocate(source.byteSize());
                        if (!source.isNative()) {
                            bytes.copyFrom(source);
                        }
                        functions.copyToDevice(address(), offset, bytes, attempt);
                    }
                });
    }

    /**
     * Copies bytes of this memory, starting at {@code offset}, until {@code target} is full. Does
     * not block. In C: {@code ibv_memcpy_from_dm}.
     *
     * @throws IndexOutOfBoundsException if the range exceeds this memory
     * @throws IllegalStateException if the memory of {@code target} was freed
     * @throws WrongThreadException if {@code target} belongs to another thread
     * @throws IllegalArgumentException if {@code target} is read-only
     * @throws VerbsException if the device rejects the copy; on some devices, the offset and the
     *     length must be multiples of 4
     */
    public void read(long offset, MemorySegment target) throws VerbsException {
        Objects.checkFromIndexSize(offset, target.byteSize(), length);
        if (target.isReadOnly()) {
            throw new IllegalArgumentException(
                    "The target of a read must not be a read-only segment");
        }
        copy(
                "ibv_memcpy_from_dm",
                offset,
                target,
                (functions, attempt) -> {
                    try (var arena = Arena.ofConfined()) {
                        var bytes = target.isNative() ? target : arena.allocate(target.byteSize());
                        functions.copyFromDevice(address(), offset, bytes, attempt);
                        if (!target.isNative()) {
                            target.copyFrom(bytes);
                        }
                    }
                });
    }

    private interface Copy {
        void make(DeviceMemoryFunctions functions, CheckedCall attempt) throws VerbsException;
    }

    private void copy(String function, long offset, MemorySegment bytes, Copy copy)
            throws VerbsException {
        SegmentChecks.checkAccessible(bytes);
        try (var _ = lifetime().held()) {
            copy.make(
                    device.library().deviceMemory(),
                    CheckedCall.to(
                            function,
                            () ->
                                    String.format(
                                            Locale.ROOT,
                                            "for %,d bytes at %,d of %s",
                                            bytes.byteSize(),
                                            offset,
                                            this)));
        }
    }
}
