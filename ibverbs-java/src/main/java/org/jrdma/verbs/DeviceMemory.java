package org.jrdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.MemoryFunctions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;

/**
 * Memory on the device itself. What is {@linkplain
 * ProtectionDomain#registerDeviceMemory(DeviceMemory, long, long, Access...) registered} of it is
 * used in requests and by peers as any other region, and never crosses the bus; this side's
 * processor reaches it by copying only.
 *
 * <p>Owned by its {@link Device}; its regions are closed with it. Safe for use by several threads.
 * In C: {@code struct ibv_dm}; {@link #close()} is {@code ibv_free_dm}.
 */
public final class DeviceMemory extends NativeObject {

    private final Device device;
    private final long length;

    DeviceMemory(Device device, long length, long alignment) throws VerbsException {
        this(device, length, device.inCall(() -> allocate(device, length, alignment)));
    }

    private DeviceMemory(Device device, long length, Made made) {
        super(made.address, made.lifetime);
        this.device = device;
        this.length = length;
    }

    private record Made(MemorySegment address, Lifetime lifetime) {}

    private static Made allocate(Device device, long length, long alignment) throws VerbsException {
        if (length <= 0) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "Device memory of %,d bytes", length));
        }
        if (Long.bitCount(alignment) != 1 || alignment < 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT, "An alignment is a power of two, and not %,d", alignment));
        }
        var memory = device.library().memory();
        var context = device.context();
        var address =
                memory.allocateDeviceMemory(
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
        var name =
                String.format(
                        Locale.ROOT, "device memory of %,d bytes on %s", length, device.name());
        return new Made(
                address,
                new Lifetime(
                        name,
                        List.of(device.ownLifetime()),
                        () ->
                                memory.freeDeviceMemory(
                                        context,
                                        address,
                                        Attempt.to("ibv_free_dm", () -> "for " + name))));
    }

    /** See {@link Device#importDeviceMemory}. */
    static DeviceMemory imported(Device device, int handle, long length) throws VerbsException {
        if (length <= 0) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "Device memory of %,d bytes", length));
        }
        var memory = device.library().memory();
        return new DeviceMemory(
                device,
                length,
                device.inCall(() -> {
                    var address =
                            memory.importDeviceMemory(
                                    device.address(),
                                    handle,
                                    Attempt.to(
                                            "ibv_import_dm",
                                            () -> "%d on %s".formatted(handle, device.name())));
                    return new Made(
                            address,
                            new Lifetime(
                                    String.format(
                                            Locale.ROOT,
                                            "imported device memory of %,d bytes on %s",
                                            length,
                                            device.name()),
                                    List.of(device.ownLifetime()),
                                    () -> memory.unimportDeviceMemory(address)));
                }));
    }

    private static String advice(int errno) {
        return errno == Errno.EOPNOTSUPP
                ? "The device has no memory to give."
                : "ExtendedDeviceAttributes.deviceMemoryBytes() tells how much the device has.";
    }

    /** The device that it is on. */
    public Device device() {
        return device;
    }

    /**
     * The kernel's number for it, by which another process {@linkplain Device#importDeviceMemory
     * imports} it.
     */
    public int handle() {
        lifetime().hold();
        try {
            return MemoryFunctions.deviceMemoryHandle(address());
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
                                    .memory()
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
        void make(MemoryFunctions functions, Attempt attempt) throws VerbsException;
    }

    private void copy(String function, long offset, MemorySegment bytes, Copy copy)
            throws VerbsException {
        lifetime().hold();
        try {
            copy.make(
                    device.library().memory(),
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

    Lifetime ownLifetime() {
        return lifetime();
    }
}
