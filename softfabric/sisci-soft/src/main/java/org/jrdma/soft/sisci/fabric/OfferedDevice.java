package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.SealedMemory;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jrdma.soft.sisci.device.DeviceBorrowedOrReturnedEvent;
import org.jrdma.soft.sisci.device.DeviceHost;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.jrdma.soft.sisci.device.DeviceModel;
import org.jrdma.soft.sisci.fabric.OfferedDevices.Borrower;
import org.jrdma.soft.sisci.host.Mapping;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device that this process lends: its BARs, its borrowers and the memory that they have mapped
 * for it. The fields of messages from borrowers are checked here. Safe for use by multiple threads.
 */
public final class OfferedDevice implements Topology.Listener, AutoCloseable {

    /** The maximum number of windows that a borrower may map. */
    static final int MAX_WINDOWS = 1024;

    /** The maximum total size of the windows of a borrower, because address space is limited. */
    static final long MAX_WINDOW_BYTES = 1L << 36;

    private static final Logger LOG = LoggerFactory.getLogger(OfferedDevice.class);
    private static final int MAX_BARS = 6;

    private final ProcessContext context;
    private final OfferedDevices devices;
    private final ObjectAnnouncementFile entry;
    private final DeviceIdentity identity;
    private final List<Bar> bars;
    private final DeviceHost host;
    private final Consumer<DeviceBorrowedOrReturnedEvent> listener;
    private final Map<Borrower, Borrow> borrows = new HashMap<>();
    private BorrowerCreatedSegments shared;
    private boolean closed;

    /** Changed under the monitor of this object. */
    private volatile LendingState state = new LendingState(true, false, List.of());

    private record Bar(int file, Mapping memory, long bytes) {}

    /**
     * A borrow.
     *
     * @param number the number of the borrower at the device
     * @param segments the private device segments
     * @param windows the mapped memory by the numbers that the borrower has chosen
     */
    private record Borrow(
            int number,
            boolean exclusive,
            BorrowerCreatedSegments segments,
            Map<Integer, Window> windows) {

        long mappedBytes() {
            return windows.values().stream().mapToLong(Window::bytes).sum();
        }
    }

    /**
     * Memory that is mapped for the device.
     *
     * @param node the node of the memory
     * @param adapter the adapter of the link to that node
     */
    private record Window(long address, Mapping memory, long bytes, int node, int adapter) {}

    private OfferedDevice(
            ProcessContext context,
            OfferedDevices devices,
            ObjectAnnouncementFile entry,
            DeviceModel model,
            List<@Nullable Bar> bars,
            Consumer<DeviceBorrowedOrReturnedEvent> listener) {
        this.context = context;
        this.devices = devices;
        this.entry = entry;
        this.identity = model.identity();
        this.bars = bars;
        this.listener = listener;
        this.shared = new BorrowerCreatedSegments(context.fabric());
        this.host =
                DeviceHost.start(
                        model,
                        bars.stream()
                                .map(bar ->
                                        bar == null
                                                ? MemorySegment.NULL
                                                : bar.memory().memory().asSlice(0, bar.bytes()))
                                .toList());
    }

    static OfferedDevice start(
            ProcessContext context,
            OfferedDevices devices,
            ObjectAnnouncementFile entry,
            DeviceModel model,
            Consumer<DeviceBorrowedOrReturnedEvent> listener) {
        var bars = new ArrayList<@Nullable Bar>();
        try {
            for (var bytes : checked(model.barBytes())) {
                bars.add(bytes == 0 ? null : createBar(entry, bars.size(), bytes));
            }
            var device = new OfferedDevice(context, devices, entry, model, bars, listener);
            context.topology().add(device);
            return device;
        } catch (Throwable e) {
            bars.forEach(OfferedDevice::free);
            throw e;
        }
    }

    private static List<Integer> checked(List<Integer> barBytes) {
        if (barBytes.size() > MAX_BARS
                || barBytes.stream().anyMatch(bytes -> bytes < 0 || bytes % 4096 != 0)) {
            throw new IllegalArgumentException(
                    "A device has up to %d BARs, whose sizes are multiples of 4,096, but this one has BARs of %s bytes."
                            .formatted(MAX_BARS, barBytes));
        }
        return barBytes;
    }

    private static Bar createBar(ObjectAnnouncementFile entry, int number, int bytes) {
        return SciException.translate(() -> {
            var file = SealedMemory.create("bar%d of %s".formatted(number, entry));
            try {
                SealedMemory.reserve(file, Mapping.wholePages(bytes));
                return new Bar(file, Mapping.of(file, 0, bytes, true), bytes);
            } catch (Throwable e) {
                SystemCalls.close(file);
                throw e;
            }
        });
    }

    private static void free(@Nullable Bar bar) {
        if (bar != null) {
            bar.memory().close();
            SystemCalls.close(bar.file());
        }
    }

    int slot() {
        return entry.number();
    }

    DeviceIdentity identity() {
        return identity;
    }

    /** Returns the id by which all nodes of the fabric find this device. */
    public long fabricDeviceId() {
        return LentDeviceDescription.id(entry);
    }

    /** Returns the number of current borrows. */
    public synchronized int borrows() {
        return borrows.size();
    }

    /** Returns the number of accesses to memory that was not mapped for the device. */
    public long refusedAccesses() {
        return host.refusedAccesses();
    }

    /** Permits or refuses new borrows. Has no effect on current borrows. */
    public synchronized void makeAvailable(boolean isAvailable) {
        updateState(isAvailable);
    }

    /** Returns the state without waiting. */
    LendingState state() {
        return state;
    }

    private void updateState(boolean isAvailable) {
        state =
                new LendingState(
                        isAvailable,
                        borrows.values().stream().anyMatch(Borrow::exclusive),
                        borrows.keySet().stream()
                                .map(borrower -> borrower.connection().node())
                                .sorted()
                                .toList());
    }

    synchronized void lendTo(Borrower borrower, boolean exclusive) {
        throwIf(closed || !state.isAvailable(), SCI_ERR_NOT_AVAILABLE());
        throwIf(exclusive && !borrows.isEmpty(), SCI_ERR_BUSY());
        throwIf(state.isExclusive(), SCI_ERR_BUSY());
        throwIf(borrows.size() >= DeviceHost.MAX_BORROWERS, SCI_ERR_BUSY());
        var number = 1;
        while (isUsed(number)) {
            number++;
        }
        host.attach(number);
        borrows.put(
                borrower,
                new Borrow(
                        number,
                        exclusive,
                        new BorrowerCreatedSegments(context.fabric()),
                        new HashMap<>()));
        LOG.debug(
                "Node {} has borrowed the device \"{}\"{}",
                borrower.connection().node(),
                identity.name(),
                exclusive ? " exclusively" : "");
        report(DeviceBorrowedOrReturnedEvent.Kind.BORROWED, borrower);
    }

    private void report(DeviceBorrowedOrReturnedEvent.Kind kind, Borrower borrower) {
        updateState(state.isAvailable());
        try {
            listener.accept(
                    new DeviceBorrowedOrReturnedEvent(
                            kind, borrower.connection().node(), borrows.size()));
        } catch (RuntimeException e) {
            LOG.error("A listener of a lent device failed", e);
        }
    }

    private boolean isUsed(int number) {
        return borrows.values().stream().anyMatch(borrow -> borrow.number() == number);
    }

    /** Returns the memory of a BAR or of a device segment. The caller must close the descriptor. */
    PeerLookupAndRequests.SharedMemory share(Borrower borrower, int id, int type) {
        if (type != SCI_MEMTYPE_BAR()) {
            return segments(borrower, type).share(id);
        }
        synchronized (this) {
            var _ = require(borrower);
            throwIf(id < 0 || id >= bars.size(), SCI_ERR_NO_SUCH_SEGMENT());
            var bar = bars.get(id);
            throwIf(bar == null, SCI_ERR_NO_SUCH_SEGMENT());
            return new PeerLookupAndRequests.SharedMemory(
                    SciException.translate(() -> LinuxCalls.duplicate(bar.file())), bar.bytes());
        }
    }

    void createSegment(Borrower borrower, int id, int type, long bytes) {
        segments(borrower, type).create(id, bytes);
    }

    private synchronized BorrowerCreatedSegments segments(Borrower borrower, int type) {
        var borrow = require(borrower);
        throwIf(
                type != SCI_MEMTYPE_PRIVATE() && type != SCI_MEMTYPE_SHARED(),
                SCI_ERR_ILLEGAL_PARAMETER());
        return type == SCI_MEMTYPE_PRIVATE() ? borrow.segments() : shared;
    }

    /**
     * Maps memory for the device, and returns its I/O address.
     *
     * @param number the number of the window, which the borrower has chosen
     * @param file the descriptor of the memory, which the caller closes
     * @param node the node of the memory
     * @param adapter the adapter of the link to that node
     */
    synchronized long map(
            Borrower borrower,
            int number,
            int file,
            long offset,
            long bytes,
            int node,
            int adapter) {
        var borrow = require(borrower);
        throwIf(borrow.windows().containsKey(number), SCI_ERR_BUSY());
        throwIf(borrow.windows().size() >= MAX_WINDOWS, SCI_ERR_MAX_ENTRIES());
        throwIf(bytes > MAX_WINDOW_BYTES - borrow.mappedBytes(), SCI_ERR_NOSPC());
        SegmentMap.checkRange(offset, bytes, Long.MAX_VALUE);
        try {
            SealedMemory.check(file, offset + bytes);
        } catch (FabricException e) {
            throw new SciException(SCI_ERR_ILLEGAL_PARAMETER(), String.valueOf(e.getMessage()));
        }
        devices.quota().acquire(borrower.connection());
        try {
            var memory = SciException.translate(() -> Mapping.of(file, offset, bytes, true));
            return map(borrower, borrow, number, memory, bytes, node, adapter);
        } catch (Throwable e) {
            devices.quota().release(borrower.connection(), 1);
            throw e;
        }
    }

    private long map(
            Borrower borrower,
            Borrow borrow,
            int number,
            Mapping memory,
            long bytes,
            int node,
            int adapter) {
        var address = 0L;
        try {
            address =
                    host.map(
                            borrow.number(),
                            memory.memory().asSlice(0, bytes),
                            stored -> signal(borrower, number, stored));
            var window = new Window(address, memory, bytes, node, adapter);
            updateLink(borrow, window);
            borrow.windows().put(number, window);
            return address;
        } catch (IllegalStateException e) { // The I/O addresses of the borrower are exhausted.
            memory.close();
            throw new SciException(SCI_ERR_MAX_ENTRIES(), String.valueOf(e.getMessage()));
        } catch (Throwable e) {
            if (address != 0) {
                host.unmap(borrow.number(), address);
            }
            memory.close();
            throw e;
        }
    }

    /** Sends an interrupt to a borrower. Called by the thread of the device, and does not wait. */
    private static void signal(Borrower borrower, int window, long offset) {
        borrower.connection()
                .sendOnce(Message.of(Kind.DEVICE_SIGNAL, borrower.number(), window, 0, offset));
    }

    synchronized void unmap(Borrower borrower, int number) {
        var borrow = borrows.get(borrower);
        var window = borrow == null ? null : borrow.windows().remove(number);
        if (window != null) {
            host.unmap(borrow.number(), window.address());
            window.memory().close();
            devices.quota().release(borrower.connection(), 1);
        }
    }

    private Borrow require(Borrower borrower) {
        var borrow = borrows.get(borrower);
        throwIf(borrow == null, SCI_ERR_NOT_AVAILABLE());
        return borrow;
    }

    /** Ends a borrow: the device does not access memory of the borrower any more. */
    synchronized void end(Borrower borrower) {
        var borrow = borrows.remove(borrower);
        if (borrow == null) {
            return;
        }
        try {
            host.detach(borrow.number()); // Calls methods of the device model, which may fail.
        } finally {
            borrow.windows().values().forEach(window -> window.memory().close());
            devices.quota().release(borrower.connection(), borrow.windows().size());
            borrow.segments().close();
            if (borrows.isEmpty()) {
                shared.close();
                shared = new BorrowerCreatedSegments(context.fabric());
            }
            LOG.debug(
                    "The borrow of the device \"{}\" by node {} has ended",
                    identity.name(),
                    borrower.connection().node());
            report(DeviceBorrowedOrReturnedEvent.Kind.RETURNED, borrower);
        }
    }

    @Override
    public synchronized void topologyChanged() {
        for (var borrow : borrows.values()) {
            borrow.windows().values().forEach(window -> updateLink(borrow, window));
        }
    }

    private void updateLink(Borrow borrow, Window window) {
        host.setReachable(
                borrow.number(),
                window.address(),
                context.topology().isLinked(window.node(), window.adapter()));
    }

    /** Withdraws the device, and ends all borrows. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            for (var borrower : List.copyOf(borrows.keySet())) {
                try {
                    end(borrower);
                } catch (Throwable e) { // The other borrows must end even if this one fails to.
                    FailureLog.error(LOG, "A device failed when a borrow ended", e);
                } finally {
                    // Sent after end(), because the borrower frees its memory when it receives the
                    // message.
                    borrower.connection().send(Message.about(Kind.DEVICE_GONE, borrower.number()));
                }
            }
            host.close();
            bars.forEach(OfferedDevice::free);
        }
        context.topology().remove(this);
        devices.remove(this);
        try {
            context.fabric().directory().delete(entry);
        } catch (FabricException e) {
            LOG.warn("Cannot delete the file of a device: {}", e.getMessage());
        }
    }
}
