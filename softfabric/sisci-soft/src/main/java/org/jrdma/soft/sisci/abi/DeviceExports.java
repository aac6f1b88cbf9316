package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.sisci.sci_smartio_device_info_t;
import org.jrdma.soft.sisci.fabric.BorrowedDevice;
import org.jrdma.soft.sisci.fabric.FlagChecks;
import org.jrdma.soft.sisci.fabric.LentDeviceDescription;
import org.jrdma.soft.sisci.fabric.LocalSegment;
import org.jrdma.soft.sisci.fabric.RemoteSegment;

/** The functions for devices of other hosts (SmartIO). */
final class DeviceExports extends AbstractExports {

    DeviceExports(SoftSisciLibrary library) {
        super(library);
    }

    private BorrowedDevice device(long handle) {
        return handles.object(handle, BorrowedDevice.class);
    }

    /**
     * Implements {@code SCIGetDeviceList}: stores the ids of matching devices, and returns the
     * number of all matching devices.
     */
    @Exported("SCIGetDeviceList")
    long list(long descriptor, long ids, long maxCount, long filter, int flags) {
        FlagChecks.checkNone(flags);
        var _ = descriptor(descriptor);
        throwIf(ids == 0 && maxCount != 0, SCI_ERR_ILLEGAL_PARAMETER());
        var matching =
                library.process().devices().stream()
                        .filter(device -> filter == 0 || matches(device, filter))
                        .toList();
        for (var i = 0; i < matching.size() && Long.compareUnsigned(i, maxCount) < 0; i++) {
            ProgramMemory.at(ids, (i + 1L) * Long.BYTES)
                    .setAtIndex(JAVA_LONG, i, matching.get(i).id());
        }
        return matching.size();
    }

    /**
     * Returns true if a device matches a filter: it has the values of all filter fields that are
     * not zero.
     */
    private static boolean matches(LentDeviceDescription device, long filter) {
        var wanted = ProgramMemory.at(filter, sci_smartio_device_info_t.layout().byteSize());
        var identity = device.identity();
        return matches(sci_smartio_device_info_t.fdid(wanted), device.id())
                && matches(sci_smartio_device_info_t.pci_device_id(wanted), identity.deviceId())
                && matches(sci_smartio_device_info_t.pci_vendor_id(wanted), identity.vendorId())
                && matches(sci_smartio_device_info_t.pci_class(wanted), identity.classCode())
                && matches(
                        sci_smartio_device_info_t.pci_subsystem_device_id(wanted),
                        identity.subsystemId())
                && matches(
                        sci_smartio_device_info_t.pci_subsystem_vendor_id(wanted),
                        identity.subsystemVendorId())
                && matches(
                        sci_smartio_device_info_t.pci_serial_number(wanted),
                        identity.serialNumber())
                && matches(sci_smartio_device_info_t.remote_bdf(wanted), 0)
                && matches(sci_smartio_device_info_t.local_bdf(wanted), 0)
                && matches(sci_smartio_device_info_t.adapter(wanted), 0)
                && matches(sci_smartio_device_info_t.nodeid(wanted), device.node())
                && matches(sci_smartio_device_info_t.physical_slot(wanted), device.slot())
                && matches(sci_smartio_device_info_t.user_name(wanted), identity.name())
                && matches(sci_smartio_device_info_t.uuid(wanted), "");
    }

    private static boolean matches(short wanted, int actual) {
        return wanted == 0 || Short.toUnsignedInt(wanted) == actual;
    }

    private static boolean matches(int wanted, int actual) {
        return wanted == 0 || wanted == actual;
    }

    private static boolean matches(long wanted, long actual) {
        return wanted == 0 || wanted == actual;
    }

    private static boolean matches(MemorySegment wanted, String actual) {
        if (wanted.get(JAVA_BYTE, 0) == 0) {
            return true;
        }
        var bytes = actual.getBytes(UTF_8);
        return bytes.length < wanted.byteSize()
                && wanted.get(JAVA_BYTE, bytes.length) == 0
                && wanted.asSlice(0, bytes.length).mismatch(MemorySegment.ofArray(bytes)) < 0;
    }

    @Exported("SCIBorrowDevice")
    void borrow(long descriptor, long device, long fabricDeviceId, int flags) {
        var owner = descriptor(descriptor);
        var _ = handles.create(device, _ -> BorrowedDevice.borrow(owner, fabricDeviceId, flags));
    }

    @Exported("SCIReturnDevice")
    void giveBack(long device, int flags) {
        FlagChecks.checkNone(flags);
        device(device).giveBack();
        handles.release(device);
    }

    @Exported(value = "SCIGetFabricDeviceId", reports = false)
    long id(long device) {
        return device(device).fabricDeviceId();
    }

    @Exported("SCICreateDeviceSegment")
    void createSegment(
            long device, int id, long bytes, int memoryType, int accessHints, int flags) {
        device(device).createSegment(id, bytes, memoryType, accessHints, flags);
    }

    @Exported("SCIConnectDeviceSegment")
    void connectSegment(
            long device,
            long segment,
            int id,
            int memoryType,
            long callback,
            long argument,
            int flags) {
        var owner = device(device);
        var _ =
                handles.create(
                        segment,
                        handle ->
                                owner.connectSegment(
                                        id,
                                        memoryType,
                                        ProgramCallbacks.ofRemoteSegment(
                                                callback, argument, handle, flags),
                                        flags));
    }

    @Exported("SCIMapLocalSegmentForDevice")
    void mapLocal(
            long segment,
            int adapter,
            long device,
            long address,
            long offset,
            long bytes,
            int flags) {
        FlagChecks.checkNone(flags);
        var local = handles.object(segment, LocalSegment.class);
        var place = ProgramMemory.at(address, Long.BYTES);
        place.set(JAVA_LONG, 0, device(device).map(local, adapter, offset, bytes));
    }

    @Exported("SCIUnmapLocalSegmentForDevice")
    void unmapLocal(long segment, int adapter, long device, int flags) {
        FlagChecks.checkNone(flags);
        library.process().checkAdapter(adapter);
        device(device).unmap(handles.object(segment, LocalSegment.class));
    }

    @Exported("SCIMapRemoteSegmentForDevice")
    void mapRemote(long segment, long device, long address, long offset, long bytes, int flags) {
        FlagChecks.checkNone(flags);
        var remote = handles.object(segment, RemoteSegment.class);
        var place = ProgramMemory.at(address, Long.BYTES);
        place.set(JAVA_LONG, 0, device(device).map(remote, offset, bytes));
    }

    @Exported("SCIUnmapRemoteSegmentForDevice")
    void unmapRemote(long segment, long device, int flags) {
        FlagChecks.checkNone(flags);
        device(device).unmap(handles.object(segment, RemoteSegment.class));
    }
}
