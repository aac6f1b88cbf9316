package org.jrdma.sisci.smartio;

import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SisciObject;
import org.jrdma.sisci.access.SisciPackageInternals;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.SisciConstant;
import org.jrdma.sisci.model.SisciException;

/**
 * A device of another node, or of this node, that this process uses until it returns the device.
 *
 * <p>The device owns the remote segments that it creates, and the mappings of segments for the
 * device. Closing the device closes them, and then returns the device to the node that lends it.
 * While the library reports that the device is busy, close() retries as described in {@link
 * SisciObject}.
 *
 * <p>If the lending node fails, {@link RemoteSegment#nextEvent} of the device's segments reports
 * LOST, loads from the registers return all ones, and later calls fail, for example with
 * NOT_AVAILABLE.
 *
 * <p>Owned by its {@link org.jrdma.sisci.Node}; safe for use by multiple threads. In C: {@code
 * sci_smartio_device_t}; {@link #close()} is {@code SCIReturnDevice}.
 */
public final class BorrowedDevice extends SisciObject {

    private static final int LAST_BAR = 5;

    private final ObjectHandle handle;
    private final long id;
    private final BorrowMode mode;

    private BorrowedDevice(ObjectHandle handle, long id, BorrowMode mode) {
        super(handle);
        this.handle = handle;
        this.id = id;
        this.mode = mode;
    }

    /**
     * Borrows a device. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold} the lifetime
     * of the node.
     */
    static BorrowedDevice borrow(NodeHandle node, long id, BorrowMode mode) throws SisciException {
        var library = node.functions().library();
        var functions = node.functions().smartIo();
        var subject = "device 0x%x".formatted(id);
        var name = "%s borrowed by %s".formatted(subject, node);
        var flags =
                mode == BorrowMode.EXCLUSIVE ? library.number(SisciConstant.SCI_FLAG_EXCLUSIVE) : 0;
        var handle = functions.borrow(node.address(), id, flags, subject);
        var device =
                new BorrowedDevice(
                        node.own(name, handle, () -> functions.giveBack(handle, name)), id, mode);
        try {
            var borrowed = functions.id(handle);
            if (borrowed != id) {
                throw new UnsupportedOperationException(
                        "%s borrowed device 0x%x instead of 0x%x: its fabric device ids do not have 64 bits. Install a release whose ids have 64 bits."
                                .formatted(library, borrowed, id));
            }
            return device;
        } catch (Throwable e) {
            device.close();
            throw e;
        }
    }

    /**
     * Returns the fabric device id, an unsigned number. In C: {@code SCIGetFabricDeviceId}, which
     * is called once, to check that the library has borrowed this device.
     */
    public long id() {
        return id;
    }

    /** Returns the mode in which the device was borrowed. */
    public BorrowMode mode() {
        return mode;
    }

    /**
     * Connects to a base address register (BAR) of the device, which is a range of registers or
     * memory. Map it with {@link org.jrdma.sisci.MapOptions.Flag#UNCACHED} if it contains
     * registers. In C: {@code SCIConnectDeviceSegment} with {@code SCI_MEMTYPE_BAR}.
     *
     * @param number the number of the BAR, from 0 to 5, which is also the id of the remote segment
     * @return a remote segment that this device owns
     * @throws SisciException if the device does not have the BAR
     */
    public RemoteSegment bar(int number) throws SisciException {
        FieldRangeChecks.check("BAR", number, 0, LAST_BAR);
        return connect(number, sisci_h.SCI_MEMTYPE_BAR(), "BAR %d".formatted(number));
    }

    /**
     * Creates a device segment and connects to it. A device segment is memory that the device
     * reaches without the borrower's node, normally because it is in the lending node. The library
     * has no function to remove a device segment: its {@link DeviceSegmentSharing} determines when
     * it ends. In C: {@code SCICreateDeviceSegment}, {@code SCIConnectDeviceSegment}.
     *
     * @return a remote segment that this device owns
     * @throws SisciException if the segment cannot be created; or if the connection fails, in which
     *     case the segment exists and {@link #connectDeviceSegment} can be called
     */
    public RemoteSegment newDeviceSegment(DeviceSegmentOptions options) throws SisciException {
        try (var _ = lifetime().held()) {
            handle.node()
                    .functions()
                    .smartIo()
                    .createSegment(
                            address(),
                            options.id(),
                            options.bytes(),
                            options.sharing().code(),
                            options.accessBits(),
                            "segment %d of %s".formatted(options.id(), this));
        }
        return connectDeviceSegment(options.id(), options.sharing());
    }

    /**
     * Connects to a device segment. The call does not wait until the segment exists. In C: {@code
     * SCIConnectDeviceSegment}.
     *
     * @param segment the id of a segment that this borrower has created, or if {@code sharing} is
     *     {@link DeviceSegmentSharing#SHARED}, that any borrower of the device has created
     * @return a remote segment that this device owns
     * @throws SisciException if the segment does not exist
     */
    public RemoteSegment connectDeviceSegment(int segment, DeviceSegmentSharing sharing)
            throws SisciException {
        return connect(segment, sharing.code(), "segment %d".formatted(segment));
    }

    private RemoteSegment connect(int segment, int memoryType, String name) throws SisciException {
        try (var _ = lifetime().held()) {
            return SisciPackageInternals.get()
                    .connect(handle, segment, memoryType, "%s of %s".formatted(name, this));
        }
    }

    /** Maps a whole local segment for this device, so that the device can access it by DMA. */
    public DeviceMapping map(LocalSegment segment) throws SisciException {
        return map(segment, 0, segment.byteSize());
    }

    /**
     * Maps a part of a local segment for this device, so that the device can access it by DMA. The
     * segment must be {@linkplain LocalSegment#prepare prepared}. A segment can have only one
     * mapping for the same device. In C: {@code SCIMapLocalSegmentForDevice}.
     *
     * @param offset the offset of the part in bytes
     * @param bytes the size of the part in bytes
     * @return a mapping that is closed with the device or the segment, whichever closes first
     * @throws SisciException with BUSY if the segment is already mapped for this device
     */
    public DeviceMapping map(LocalSegment segment, long offset, long bytes) throws SisciException {
        return DeviceMapping.ofLocal(
                handle,
                SisciPackageInternals.get().handle(segment),
                DeviceMapping.Part.of(offset, bytes, segment.byteSize()));
    }

    /** Maps a whole remote segment for this device, so that the device can access it by DMA. */
    public DeviceMapping map(RemoteSegment segment) throws SisciException {
        return map(segment, 0, segment.byteSize());
    }

    /**
     * Maps a part of a remote segment for this device, so that the device can access it by DMA. The
     * segment can be a segment of any node, a device segment, or a BAR of another device. A segment
     * can have only one mapping for the same device. In C: {@code SCIMapRemoteSegmentForDevice}.
     *
     * @param offset the offset of the part in bytes
     * @param bytes the size of the part in bytes
     * @return a mapping that is closed with the device or the segment, whichever closes first
     * @throws SisciException with BUSY if the segment is already mapped for this device
     */
    public DeviceMapping map(RemoteSegment segment, long offset, long bytes) throws SisciException {
        return DeviceMapping.ofRemote(
                handle,
                SisciPackageInternals.get().handle(segment),
                DeviceMapping.Part.of(offset, bytes, segment.byteSize()));
    }
}
