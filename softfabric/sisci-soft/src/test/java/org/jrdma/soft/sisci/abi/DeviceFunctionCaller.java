package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.lang.foreign.MemorySegment;

/** A process that borrows devices through the C functions. */
record DeviceFunctionCaller(LibraryCaller program, long descriptor) {

    /** Borrows a device and returns its handle. */
    long borrow(long id, int flags) {
        var place = program.place();
        program.ok("SCIBorrowDevice", descriptor, place.address(), id, flags);
        return LibraryCaller.handle(place);
    }

    String borrowError(long id, int flags) {
        return name(
                program.attempt(
                        "SCIBorrowDevice", descriptor, program.place().address(), id, flags));
    }

    /** Returns the name of an error code that the header does not contain. */
    private String name(String error) {
        return program.error() == program.constant("SCI_ERR_NO_SUCH_FDID") ? "NO_SUCH_FDID" : error;
    }

    String giveBack(long device) {
        return program.attempt("SCIReturnDevice", device, 0);
    }

    long connect(long device, int id, int type) {
        var place = program.place();
        program.ok("SCIConnectDeviceSegment", device, place.address(), id, type, 0, 0, 0);
        return LibraryCaller.handle(place);
    }

    String connectError(long device, int id, int type) {
        return program.attempt(
                "SCIConnectDeviceSegment", device, program.place().address(), id, type, 0, 0, 0);
    }

    /** Connects to a BAR and maps it. */
    MemorySegment bar(long device, int number, long bytes) {
        return program.mapRemote(connect(device, number, SCI_MEMTYPE_BAR()), bytes).memory();
    }

    String create(long device, int id, long bytes, int type) {
        var hints = SCI_MEMACCESS_HOST_WRITE() | SCI_MEMACCESS_DEVICE_READ();
        return program.attempt("SCICreateDeviceSegment", device, id, bytes, type, hints, 0);
    }

    /** Creates a segment that can be mapped for devices. */
    long prepare(int id, long bytes) {
        var segment = program.create(descriptor, id, bytes, 0);
        program.ok("SCIPrepareSegment", segment, 0, 0);
        return segment;
    }

    /** Maps a part of a local segment for a device and returns the I/O address. */
    long mapLocal(long segment, long device, long offset, long bytes) {
        var place = program.place();
        program.ok(
                "SCIMapLocalSegmentForDevice",
                segment,
                0,
                device,
                place.address(),
                offset,
                bytes,
                0);
        return LibraryCaller.handle(place);
    }

    String mapLocalError(long segment, long device, long offset, long bytes) {
        return program.attempt(
                "SCIMapLocalSegmentForDevice",
                segment,
                0,
                device,
                program.place().address(),
                offset,
                bytes,
                0);
    }

    String unmapLocal(long segment, long device) {
        return program.attempt("SCIUnmapLocalSegmentForDevice", segment, 0, device, 0);
    }

    long mapRemote(long segment, long device, long offset, long bytes) {
        var place = program.place();
        program.ok(
                "SCIMapRemoteSegmentForDevice", segment, device, place.address(), offset, bytes, 0);
        return LibraryCaller.handle(place);
    }

    String mapRemoteError(long segment, long device, long offset, long bytes) {
        return program.attempt(
                "SCIMapRemoteSegmentForDevice",
                segment,
                device,
                program.place().address(),
                offset,
                bytes,
                0);
    }

    String unmapRemote(long segment, long device) {
        return program.attempt("SCIUnmapRemoteSegmentForDevice", segment, device, 0);
    }

    String disconnect(long segment) {
        return program.attempt("SCIDisconnectSegment", segment, 0);
    }
}
