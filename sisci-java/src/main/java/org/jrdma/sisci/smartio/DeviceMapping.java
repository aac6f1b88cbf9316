package org.jrdma.sisci.smartio;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.SisciObject;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.RemovalRetry;
import org.jrdma.sisci.model.SisciException;

/**
 * A segment, or a part of it, that a borrowed device can access by DMA.
 *
 * <p>Owned by the {@link BorrowedDevice} and the segment: closing either of them closes the mapping
 * first. After close(), the device cannot access the segment. Therefore, stop the transfers of the
 * device before you close a mapping.
 *
 * <p>Safe for use by multiple threads. In C, {@link #close()} is {@code
 * SCIUnmapLocalSegmentForDevice} or {@code SCIUnmapRemoteSegmentForDevice}.
 */
public final class DeviceMapping extends SisciObject {

    private final long ioAddress;
    private final long bytes;

    private DeviceMapping(ObjectHandle handle, long ioAddress, long bytes) {
        super(handle);
        this.ioAddress = ioAddress;
        this.bytes = bytes;
    }

    /** The part of a segment to map. */
    record Part(long offset, long bytes) {

        /**
         * Returns a part of a segment.
         *
         * @throws IndexOutOfBoundsException if the part is not within the segment
         */
        static Part of(long offset, long bytes, long segmentBytes) {
            if (bytes == 0) {
                throw new IllegalArgumentException("Cannot map 0 bytes for a device");
            }
            var _ = Objects.checkFromIndexSize(offset, bytes, segmentBytes);
            return new Part(offset, bytes);
        }
    }

    static DeviceMapping ofLocal(ObjectHandle device, ObjectHandle segment, Part part)
            throws SisciException {
        var functions = device.node().functions().smartIo();
        var adapter = segment.node().adapter();
        return map(
                device,
                segment,
                part,
                name ->
                        functions.mapLocal(
                                segment.address(),
                                adapter,
                                device.address(),
                                part.offset(),
                                part.bytes(),
                                name),
                name -> functions.unmapLocal(segment.address(), adapter, device.address(), name));
    }

    static DeviceMapping ofRemote(ObjectHandle device, ObjectHandle segment, Part part)
            throws SisciException {
        var functions = device.node().functions().smartIo();
        return map(
                device,
                segment,
                part,
                name ->
                        functions.mapRemote(
                                segment.address(),
                                device.address(),
                                part.offset(),
                                part.bytes(),
                                name),
                name -> functions.unmapRemote(segment.address(), device.address(), name));
    }

    /** Maps a segment and returns the I/O address. */
    @FunctionalInterface
    private interface Map {
        long map(String name) throws SisciException;
    }

    /** Reverses {@link Map}. */
    @FunctionalInterface
    private interface Unmap {
        void unmap(String name) throws SisciException;
    }

    private static DeviceMapping map(
            ObjectHandle device, ObjectHandle segment, Part part, Map map, Unmap unmap)
            throws SisciException {
        var node = device.node();
        node.functions()
                .library()
                .checkSame(
                        segment.node().functions().library(),
                        device.lifetime(),
                        segment.lifetime());
        var name =
                String.format(
                        Locale.ROOT,
                        "mapping of %,d bytes of %s for %s",
                        part.bytes(),
                        segment.lifetime(),
                        device.lifetime());
        var owners = List.of(device.lifetime(), segment.lifetime());
        try (var _ = Lifetime.holdAll(owners)) {
            var ioAddress = map.map(name);
            var retry = new RemovalRetry(node.deferred());
            // A failed removal is not deferred until the node is closed. The library identifies the
            // mapping by the handle of the segment, which may have been removed by then.
            var lifetime =
                    new Lifetime(
                            name,
                            owners,
                            () -> RemovalRetry.retry(retry.start(), () -> unmap.unmap(name)));
            return new DeviceMapping(
                    new ObjectHandle(node, MemorySegment.NULL, lifetime, retry),
                    ioAddress,
                    part.bytes());
        }
    }

    /** Returns the address of the mapped memory, as the device uses it for DMA. */
    public long ioAddress() {
        return ioAddress;
    }

    /** Returns the size of the mapped memory in bytes. */
    public long byteSize() {
        return bytes;
    }
}
