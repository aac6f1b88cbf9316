package org.jrdma.sisci.smartio;

import java.util.Arrays;
import java.util.List;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.access.SisciPackageInternals;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.model.SisciException;

/**
 * The devices that the nodes of a fabric lend.
 *
 * <p>An instance can be used while its {@link Node} is open. Safe for use by multiple threads.
 */
public final class SmartIo {

    private final NodeHandle node;

    private SmartIo(NodeHandle node) {
        this.node = node;
    }

    /** Returns an object that lists and borrows devices on behalf of a node. */
    public static SmartIo of(Node node) {
        return new SmartIo(SisciPackageInternals.get().handle(node).node());
    }

    /** Lists all devices. In C: {@code SCIGetDeviceList}. */
    public List<BorrowableDevice> devices() throws SisciException {
        return devices(DeviceFilter.ANY);
    }

    /**
     * Lists the devices that match a filter. In C: {@code SCIGetDeviceList}.
     *
     * @throws UnsupportedOperationException if the library does not have the function, or has the
     *     interface of 2019, in which fabric device ids have 32 bits
     */
    public List<BorrowableDevice> devices(DeviceFilter filter) throws SisciException {
        try (var _ = node.lifetime().held()) {
            var ids = list(DeviceFilter.ANY);
            if (ids.length > 0 && !filter.equals(DeviceFilter.ANY)) {
                // The list of all devices has shown that the ids, and thus the filter, have the
                // layout of the header.
                ids = list(filter);
            }
            return Arrays.stream(ids).mapToObj(BorrowableDevice::new).toList();
        }
    }

    private long[] list(DeviceFilter filter) throws SisciException {
        return node.functions()
                .smartIo()
                .devices(
                        node.address(),
                        filter.vendor(),
                        filter.device(),
                        filter.classCode(),
                        filter);
    }

    /** Borrows a device, like {@link #borrow(long, BorrowMode)}. */
    public BorrowedDevice borrow(BorrowableDevice device, BorrowMode mode) throws SisciException {
        return borrow(device.id(), mode);
    }

    /**
     * Borrows a device. In C: {@code SCIBorrowDevice}.
     *
     * @param id the fabric device id
     * @throws SisciException with {@link org.jrdma.sisci.model.SisciError#NO_SUCH_DEVICE} if no
     *     device has the id, with BUSY if the mode conflicts with another borrower, with
     *     NOT_AVAILABLE if the device is not lent at present
     * @throws UnsupportedOperationException if the library does not have the functions, or has the
     *     interface of 2019, in which fabric device ids have 32 bits
     */
    public BorrowedDevice borrow(long id, BorrowMode mode) throws SisciException {
        try (var _ = node.lifetime().held()) {
            return BorrowedDevice.borrow(node, id, mode);
        }
    }
}
