package org.jrdma.sisci.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.abi.sisci.sci_smartio_device_info_t;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.sisci.model.SisciException;

/**
 * Calls the functions of libsisci for SmartIO, which find, borrow and use the devices of other
 * nodes.
 */
public final class SmartIoFunctions {

    private static final MethodHandle GET_DEVICE_LIST =
            capturingErrno(sisci_h.SCIGetDeviceList$descriptor());
    private static final MethodHandle BORROW_DEVICE =
            capturingErrno(sisci_h.SCIBorrowDevice$descriptor());
    private static final MethodHandle GET_FABRIC_DEVICE_ID =
            Downcalls.plain(sisci_h.SCIGetFabricDeviceId$descriptor());
    private static final MethodHandle CREATE_DEVICE_SEGMENT =
            capturingErrno(sisci_h.SCICreateDeviceSegment$descriptor());
    private static final MethodHandle CONNECT_DEVICE_SEGMENT =
            capturingErrno(sisci_h.SCIConnectDeviceSegment$descriptor());
    private static final MethodHandle MAP_LOCAL =
            capturingErrno(sisci_h.SCIMapLocalSegmentForDevice$descriptor());
    private static final MethodHandle UNMAP_LOCAL =
            capturingErrno(sisci_h.SCIUnmapLocalSegmentForDevice$descriptor());
    private static final MethodHandle MAP_REMOTE =
            capturingErrno(sisci_h.SCIMapRemoteSegmentForDevice$descriptor());
    private static final MethodHandle UNMAP_REMOTE =
            capturingErrno(sisci_h.SCIUnmapRemoteSegmentForDevice$descriptor());

    private static final int FIRST_CAPACITY = 256;
    private static final int LARGEST_CAPACITY = 1 << 20;

    /**
     * The value of array elements before the call, by which ids that the library did not store are
     * recognized.
     */
    private static final long UNWRITTEN = 0xA5A5_A5A5_A5A5_A5A5L;

    private final SisciLibrary library;

    public SmartIoFunctions(SisciLibrary library) {
        this.library = library;
    }

    /**
     * Returns the ids of the devices that match a filter. The library ignores a field of the filter
     * that is 0.
     *
     * <p>In an older release, ids have 32 bits. A list of such ids leaves the upper half of the
     * last 64-bit id unwritten, which this method detects.
     *
     * @throws UnsupportedOperationException if the library has no such function, or stores ids of
     *     32 bits
     */
    public long[] devices(
            MemorySegment node, int vendor, int device, int deviceClass, Object subject)
            throws SisciException {
        for (var capacity = FIRST_CAPACITY; capacity <= LARGEST_CAPACITY; capacity *= 2) {
            var ids = devices(node, vendor, device, deviceClass, capacity, subject);
            if (ids.length > 0 && upperHalf(ids[ids.length - 1]) == upperHalf(UNWRITTEN)) {
                throw new UnsupportedOperationException(
                        "%s stores fabric device ids of 32 bits, as releases of 2019 did. Install a release whose ids have 64 bits."
                                .formatted(library));
            }
            if (ids.length < capacity) { // If the array is full, more devices may exist.
                return ids;
            }
        }
        throw new IllegalStateException(
                "SCIGetDeviceList returned more than %d ids for %s"
                        .formatted(LARGEST_CAPACITY, subject));
    }

    private static int upperHalf(long id) {
        return (int) (id >>> Integer.SIZE);
    }

    private long[] devices(
            MemorySegment node,
            int vendor,
            int device,
            int deviceClass,
            int capacity,
            Object subject)
            throws SisciException {
        return library.call(
                "SCIGetDeviceList",
                subject,
                (function, arena, error) -> {
                    var filter = sci_smartio_device_info_t.allocate(arena);
                    sci_smartio_device_info_t.pci_vendor_id(filter, (short) vendor);
                    sci_smartio_device_info_t.pci_device_id(filter, (short) device);
                    sci_smartio_device_info_t.pci_class(filter, deviceClass);
                    var ids = arena.allocate(JAVA_LONG, capacity);
                    for (var i = 0; i < capacity; i++) {
                        ids.setAtIndex(JAVA_LONG, i, UNWRITTEN);
                    }
                    var matches =
                            (long)
                                    GET_DEVICE_LIST.invokeExact(
                                            function,
                                            segment(),
                                            node,
                                            ids,
                                            (long) capacity,
                                            filter,
                                            0,
                                            error);
                    var stored = Long.compareUnsigned(matches, capacity) < 0 ? matches : capacity;
                    return ids.asSlice(0, stored * JAVA_LONG.byteSize()).toArray(JAVA_LONG);
                });
    }

    public MemorySegment borrow(MemorySegment node, long device, int flags, Object subject)
            throws SisciException {
        return library.call(
                "SCIBorrowDevice",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    BORROW_DEVICE.invokeExact(
                            function, segment(), node, handle, device, flags, error);
                    return handle.get(ADDRESS, 0);
                });
    }

    /**
     * Returns a device to its owner. Fails with BUSY while a segment is mapped for the device, or a
     * segment of the device is connected.
     */
    public void giveBack(MemorySegment device, Object subject) throws SisciException {
        library.run("SCIReturnDevice", device, 0, subject);
    }

    public long id(MemorySegment device) {
        var function = library.require("SCIGetFabricDeviceId");
        return Downcalls.call(() -> (long) GET_FABRIC_DEVICE_ID.invokeExact(function, device));
    }

    /** Creates a device segment. The library has no function that removes it. */
    public void createSegment(
            MemorySegment device, int id, long bytes, int memoryType, int access, Object subject)
            throws SisciException {
        library.run(
                "SCICreateDeviceSegment",
                subject,
                (function, _, error) -> {
                    CREATE_DEVICE_SEGMENT.invokeExact(
                            function, segment(), device, id, bytes, memoryType, access, 0, error);
                });
    }

    /**
     * Connects to a BAR or a device segment, and returns a remote segment.
     *
     * @param id the number of the BAR, or the id of the device segment
     * @param listener the key of a listener in {@link Callbacks}
     */
    public MemorySegment connectSegment(
            MemorySegment device, int id, int memoryType, long listener, Object subject)
            throws SisciException {
        return library.call(
                "SCIConnectDeviceSegment",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    CONNECT_DEVICE_SEGMENT.invokeExact(
                            function,
                            segment(),
                            device,
                            handle,
                            id,
                            memoryType,
                            Callbacks.orNull(Callbacks.remoteSegment(), listener),
                            MemorySegment.ofAddress(listener),
                            library.callbackFlag(listener),
                            error);
                    return handle.get(ADDRESS, 0);
                });
    }

    /**
     * Maps a part of a local segment for a device, and returns its I/O address. Fails with BUSY if
     * the segment is already mapped for the device.
     */
    public long mapLocal(
            MemorySegment segment,
            int adapter,
            MemorySegment device,
            long offset,
            long bytes,
            Object subject)
            throws SisciException {
        return library.call(
                "SCIMapLocalSegmentForDevice",
                subject,
                (function, arena, error) -> {
                    var address = arena.allocate(JAVA_LONG);
                    MAP_LOCAL.invokeExact(
                            function, segment(), segment, adapter, device, address, offset, bytes,
                            0, error);
                    return address.get(JAVA_LONG, 0);
                });
    }

    public void unmapLocal(MemorySegment segment, int adapter, MemorySegment device, Object subject)
            throws SisciException {
        library.run(
                "SCIUnmapLocalSegmentForDevice",
                subject,
                (function, _, error) -> {
                    UNMAP_LOCAL.invokeExact(
                            function, segment(), segment, adapter, device, 0, error);
                });
    }

    /** Maps a part of a remote segment for a device, like {@link #mapLocal}. */
    public long mapRemote(
            MemorySegment segment, MemorySegment device, long offset, long bytes, Object subject)
            throws SisciException {
        return library.call(
                "SCIMapRemoteSegmentForDevice",
                subject,
                (function, arena, error) -> {
                    var address = arena.allocate(JAVA_LONG);
                    MAP_REMOTE.invokeExact(
                            function, segment(), segment, device, address, offset, bytes, 0, error);
                    return address.get(JAVA_LONG, 0);
                });
    }

    public void unmapRemote(MemorySegment segment, MemorySegment device, Object subject)
            throws SisciException {
        library.run(
                "SCIUnmapRemoteSegmentForDevice",
                subject,
                (function, _, error) -> {
                    UNMAP_REMOTE.invokeExact(function, segment(), segment, device, 0, error);
                });
    }
}
