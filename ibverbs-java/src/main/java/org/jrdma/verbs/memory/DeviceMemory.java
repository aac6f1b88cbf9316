package org.jrdma.verbs.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.handle.Registration;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.DeviceMemoryFunctions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;

/**
 * Memory on the device itself. What is {@linkplain
 * org.jrdma.verbs.ProtectionDomain#registerDeviceMemory(DeviceMemory, long, long, Access...)
 * registered} of it is used in requests and by peers as any other region, and never crosses the
 * bus; this side's processor reaches it by copying only.
 *
 * <p>Owned by its {@link org.jrdma.verbs.Device}; its regions are closed with it. Safe for use by
 * several threads. In C: {@code struct ibv_dm}; {@link #close()} is {@code ibv_free_dm}.
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
                            Locale.ROOT, "An alignment is a power of two, and not %,d", alignment));
        }
        var functions = device.library().deviceMemory();
        var context = device.context();
        return device.call(() -> {
            var address =
                    functions.allocateDeviceMemory(
                            context,
                            length,
                            Long.numberOfTrailingZeros(alignment),
                            new Attempt(
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
                            Attempt.to(
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
                    String.format(Locale.ROOT, "Device memory of %,d bytes", length));
        }
    }

    /** Registers a part of this memory in a domain of the same device. */
    MemoryRegion register(DomainHandle domain, long offset, long bytes, Set<Access> access)
            throws VerbsException {
        if (device != domain.device()) {
            throw new IllegalArgumentException(this + " is of another device than " + domain);
        }
        return new MemoryRegion(
                Registration.ofDevice(domain, this, memory, length, offset, bytes, access));
    }

    private static String advice(int errno) {
        return errno == Errno.EOPNOTSUPP
                ? "The device has no memory to give."
                : "ExtendedDeviceAttributes.deviceMemoryBytes() tells how much the device has.";
    }

    /**
     * The kernel's number for it, by which another process {@linkplain
     * org.jrdma.verbs.Device#importDeviceMemory imports} it.
     */
    public int handle() {
        lifetime().hold();
        try {
            return DeviceMemoryFunctions.deviceMemoryHandle(address());
        } finally {
            lifetime().release();
        }
    }

    /**
     * Makes a dma-buf of it, which other devices' drivers take. In C: {@code
     * ibv_dm_export_dmabuf_fd}.
     *
     * @return the dma-buf, which is the caller's to close, and outlives this
     * @throws VerbsException with EOPNOTSUPP where the library or the device has no such thing
     */
    public DmaBuf exportDmaBuf() throws VerbsException {
        lifetime().hold();
        try {
            var descriptor =
                    PlatformCalls.call(() ->
                            device.library()
                                    .deviceMemory()
                                    .exportDmaBuf(
                                            address(),
                                            Attempt.to(
                                                    "ibv_dm_export_dmabuf_fd",
                                                    () -> "for " + this)));
            return new DmaBuf(OpenFile.of(descriptor));
        } finally {
            lifetime().release();
        }
    }

    /** Its length in bytes. */
    public long length() {
        return length;
    }

    /**
     * Copies bytes to the device. Does not wait. In C: {@code ibv_memcpy_to_dm}.
     *
     * @throws IndexOutOfBoundsException if they would not fit
     * @throws VerbsException if the device refuses; some copy whole words at multiples of 4 only
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
     * Copies bytes from the device. Does not wait. In C: {@code ibv_memcpy_from_dm}.
     *
     * @throws IndexOutOfBoundsException if there are not so many
     * @throws IllegalArgumentException if the segment is read-only
     * @throws VerbsException if the device refuses; some copy whole words at multiples of 4 only
     */
    public void read(long offset, MemorySegment target) throws VerbsException {
        Objects.checkFromIndexSize(offset, target.byteSize(), length);
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("Nothing can be read into a read-only segment");
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
        void make(DeviceMemoryFunctions functions, Attempt attempt) throws VerbsException;
    }

    private void copy(String function, long offset, MemorySegment bytes, Copy copy)
            throws VerbsException {
        lifetime().hold();
        try {
            copy.make(
                    device.library().deviceMemory(),
                    Attempt.to(
                            function,
                            () ->
                                    String.format(
                                            Locale.ROOT,
                                            "for %,d bytes at %,d of %s",
                                            bytes.byteSize(),
                                            offset,
                                            this)));
        } finally {
            lifetime().release();
        }
    }
}
