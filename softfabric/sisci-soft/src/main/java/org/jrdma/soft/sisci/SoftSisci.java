package org.jrdma.soft.sisci;

import java.lang.foreign.SymbolLookup;
import java.util.List;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.JavaImplementedLibrary;
import org.jrdma.soft.sisci.abi.SoftSisciLibrary;
import org.jrdma.soft.sisci.device.DeviceBorrowedOrReturnedEvent;
import org.jrdma.soft.sisci.device.DeviceModel;
import org.jrdma.soft.sisci.fabric.FabricProcess;
import org.jrdma.soft.sisci.fabric.FaultInjector;
import org.jrdma.soft.sisci.fabric.LentDeviceDescription;
import org.jrdma.soft.sisci.fabric.SciException;
import org.jrdma.soft.sisci.fabric.UnpublishedErrors;

/**
 * A libsisci written in Java. Its nodes need no adapter, driver or privileges. Processes that use
 * the same directory form a fabric. A map of a segment in another process is shared memory.
 *
 * <p>Stores into a map of a multicast group are detected by comparing the map with its previous
 * contents, at a flush and at intervals of some hundred microseconds. Therefore a store of a value
 * that the map already contains is not delivered, even if a member has changed its segment
 * meanwhile. Loads from such a map return only the stores of this process. {@code SCIMemCpy} and
 * DMA deliver all data.
 *
 * <p>Each object of this class acts as a separate process of the fabric, so one JVM can have
 * several nodes. The library stays loaded until the JVM exits. It is a member of the fabric while
 * it is initialized. Safe for use by multiple threads.
 */
public final class SoftSisci implements JavaImplementedLibrary {

    private final SoftSisciLibrary library;

    /**
     * Creates a library that joins the fabric of {@link SoftSisciOptions#configured()} when it is
     * initialized.
     */
    public SoftSisci() {
        this(SoftSisciOptions.configured());
    }

    /** Creates a library that joins a given fabric when it is initialized. */
    public SoftSisci(SoftSisciOptions options) {
        this.library = new SoftSisciLibrary(() -> join(options));
    }

    private static FabricProcess join(SoftSisciOptions options) {
        var faults = options.faults();
        return FabricProcess.join(
                options.fabric(),
                options.isDefaultFabric(),
                options.node(),
                options.adapters(),
                new FaultInjector(
                        faults.weakMemory(), faults.delay(), faults.refusals(), faults.mapBytes()));
    }

    /**
     * Returns the id of this library's node.
     *
     * @throws FabricException if the library is not initialized
     */
    public int node() throws FabricException {
        try {
            return library.process().node();
        } catch (SciException e) {
            throw failure(e);
        }
    }

    /**
     * Cuts the link of an adapter of the node, for all processes of the node. When this method
     * returns, stores over the link are lost and loads return all ones. Connected programs receive
     * the events asynchronously, on their own threads.
     *
     * @throws FabricException if the library is not initialized or the node has no such adapter; or
     *     if a process of the fabric does not respond within 5 s. Stores by such a process may
     *     still arrive until it responds.
     */
    public void cutLink(int adapter) throws FabricException {
        setLink(adapter, false);
    }

    /**
     * Restores a link that was cut.
     *
     * @throws FabricException if the library is not initialized or the node has no such adapter; or
     *     if a process of the fabric does not respond within 5 s
     */
    public void restoreLink(int adapter) throws FabricException {
        setLink(adapter, true);
    }

    /**
     * Lends a device to all processes of the fabric. The device runs on a new thread.
     *
     * @throws FabricException if the library is not initialized, the node already lends 255
     *     devices, or the fabric has no memory for the BARs
     * @throws IllegalArgumentException if the BARs have invalid sizes
     */
    public LentDevice lend(DeviceModel model) throws FabricException {
        return lend(model, _ -> {});
    }

    /**
     * Lends a device, like {@link #lend(DeviceModel)}, and notifies a listener of its borrows.
     *
     * @param listener receives an event when a borrow starts or ends, in order. It is called by
     *     threads that handle requests of borrowers, and must not wait; exceptions are logged
     */
    public LentDevice lend(DeviceModel model, Consumer<DeviceBorrowedOrReturnedEvent> listener)
            throws FabricException {
        try {
            return new LentDevice(library.process().offeredDevices().lend(model, listener));
        } catch (SciException e) {
            throw failure(e);
        }
    }

    /**
     * Lists the devices of the fabric, sorted by their ids. Devices of processes that do not
     * respond are omitted.
     *
     * @throws FabricException if the library is not initialized
     */
    public List<ListedDevice> devices() throws FabricException {
        try {
            return library.process().devices().stream().map(SoftSisci::describe).toList();
        } catch (SciException e) {
            throw failure(e);
        }
    }

    private static ListedDevice describe(LentDeviceDescription device) {
        var state = device.state();
        return new ListedDevice(
                device.id(),
                device.node(),
                device.identity(),
                state.isAvailable(),
                state.isExclusive(),
                state.borrowers());
    }

    /**
     * Permits new borrows of a device that any process of the fabric lends.
     *
     * @throws FabricException if the library is not initialized, no process lends a device with
     *     this id, or the lender does not respond within 5 s
     * @see LentDevice#makeAvailable
     */
    public void makeAvailable(long fabricDeviceId) throws FabricException {
        makeAvailable(fabricDeviceId, true);
    }

    /**
     * Refuses new borrows of a device that any process of the fabric lends. Processes that have
     * borrowed the device keep it.
     *
     * @throws FabricException if the library is not initialized, no process lends a device with
     *     this id, or the lender does not respond within 5 s
     * @see LentDevice#makeUnavailable
     */
    public void makeUnavailable(long fabricDeviceId) throws FabricException {
        makeAvailable(fabricDeviceId, false);
    }

    private void makeAvailable(long fabricDeviceId, boolean isAvailable) throws FabricException {
        try {
            library.process().makeAvailable(fabricDeviceId, isAvailable);
        } catch (SciException e) {
            if (e.code() == UnpublishedErrors.NO_SUCH_FDID) {
                throw new FabricException(
                        "No node of the fabric lends a device with the id 0x%x."
                                .formatted(fabricDeviceId));
            }
            throw failure(e);
        }
    }

    private void setLink(int adapter, boolean operational) throws FabricException {
        try {
            library.process().setLink(adapter, operational);
        } catch (SciException e) {
            throw failure(e);
        }
    }

    private static FabricException failure(SciException e) {
        return new FabricException(
                "The software fabric failed with error 0x%X. %s"
                        .formatted(e.code(), e.getMessage()));
    }

    @Override
    public String name() {
        return "sisci-soft";
    }

    @Override
    public String soname() {
        return "libsisci.so";
    }

    @Override
    public SymbolLookup symbols() {
        return library;
    }

    @Override
    public String explanation() {
        return library.explanation();
    }
}
