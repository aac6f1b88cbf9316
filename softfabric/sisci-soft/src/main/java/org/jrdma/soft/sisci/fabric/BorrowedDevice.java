package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jspecify.annotations.Nullable;

/**
 * A device of another process, or of this process, that this process has borrowed. In C: {@code
 * sci_smartio_device_t}. Safe for use by multiple threads.
 *
 * <p>After the lender has ended or has withdrawn the device, memory can still be unmapped and the
 * device can be returned, but all other calls fail with SCI_ERR_NOT_AVAILABLE.
 */
public final class BorrowedDevice implements IncomingPeerMessageDispatcher.ConnectedObject {

    private static final int CREATE_FLAGS =
            SCI_FLAG_DEVICE_SIDE_ONLY()
                    | SCI_FLAG_DEVICE_PREFER_BANDWIDTH()
                    | SCI_FLAG_HOST_PREFER_BANDWIDTH();
    private static final int ACCESS_HINTS =
            SCI_MEMACCESS_HOST_READ()
                    | SCI_MEMACCESS_HOST_WRITE()
                    | SCI_MEMACCESS_MULTIHOST_READ()
                    | SCI_MEMACCESS_MULTIHOST_WRITE()
                    | SCI_MEMACCESS_P2P_READ()
                    | SCI_MEMACCESS_P2P_WRITE();

    private final SciDescriptor descriptor;
    private final ProcessContext context;
    private final ObjectAnnouncementFile entry;
    private final Connection lender;
    private final int number;

    /**
     * The descriptor that counts the segments and windows of this device, so that the device cannot
     * be returned while they exist.
     */
    private final SciDescriptor contents;

    private final List<RemoteSegment> segments = new ArrayList<>();

    /** The windows that are mapped for the device, by local or remote segment. */
    private final Map<Object, Window> windows = new ConcurrentHashMap<>();

    private final AtomicInteger lastWindow = new AtomicInteger();
    private volatile boolean lost;
    private boolean returned;

    /**
     * A part of a segment that is mapped for the device.
     *
     * @param release the action that permits the removal of the segment again
     * @param signaled the handler of interrupts of the device, which receives the offset in the
     *     segment
     */
    private record Window(
            int number, long offset, long bytes, Runnable release, LongConsumer signaled) {}

    private BorrowedDevice(
            SciDescriptor descriptor, ObjectAnnouncementFile entry, Connection lender, int number) {
        this.descriptor = descriptor;
        this.context = descriptor.context();
        this.entry = entry;
        this.lender = lender;
        this.number = number;
        this.contents = new SciDescriptor(context);
    }

    /** Borrows a device. In C: {@code SCIBorrowDevice}. */
    public static BorrowedDevice borrow(SciDescriptor descriptor, long fabricDeviceId, int flags) {
        FlagChecks.checkAllowed(flags, SCI_FLAG_EXCLUSIVE());
        var context = descriptor.context();
        var fabric = context.fabric();
        var entry = fabric.requireDevice(fabricDeviceId);
        context.topology().checkLink(entry.node(), 0);
        var lender =
                fabric.find(entry).orElseThrow(() -> new SciException(SCI_ERR_NOT_AVAILABLE()));
        return descriptor.add(() -> {
            var number = context.objects().newNumber();
            var device = new BorrowedDevice(descriptor, entry, lender, number);
            context.objects().add(number, lender, device);
            try {
                var exclusive = FlagChecks.has(flags, SCI_FLAG_EXCLUSIVE()) ? 1 : 0;
                device.request(
                        Message.of(Kind.BORROW_DEVICE, number, entry.number(), exclusive, 0));
                return device;
            } catch (Throwable e) {
                // The request may have been executed, although no response has arrived.
                lender.send(Message.about(Kind.RETURN_DEVICE, number));
                context.objects().remove(number);
                throw e;
            }
        });
    }

    private Message request(Message request) {
        var response = context.fabric().request(lender, request);
        throwIf(lost || lender.isClosed(), SCI_ERR_NOT_AVAILABLE());
        return response;
    }

    public long fabricDeviceId() {
        return LentDeviceDescription.id(entry);
    }

    private void checkAvailable() {
        throwIf(lost || lender.isClosed(), SCI_ERR_NOT_AVAILABLE());
        context.topology().checkLink(entry.node(), 0);
    }

    /** Creates memory at the device. In C: {@code SCICreateDeviceSegment}. */
    public void createSegment(int id, long bytes, int memoryType, int accessHints, int flags) {
        FlagChecks.checkAllowed(flags, CREATE_FLAGS);
        FlagChecks.checkAllowed(accessHints, ACCESS_HINTS);
        throwIf(
                memoryType != SCI_MEMTYPE_PRIVATE() && memoryType != SCI_MEMTYPE_SHARED(),
                SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(bytes <= 0, SCI_ERR_SIZE_ALIGNMENT());
        checkAvailable();
        request(Message.of(Kind.CREATE_DEVICE_SEGMENT, number, id, memoryType, bytes));
    }

    /** Connects to a BAR or to a device segment. In C: {@code SCIConnectDeviceSegment}. */
    public RemoteSegment connectSegment(
            int id,
            int memoryType,
            EventQueue.@Nullable Callback<SegmentEvent> callback,
            int flags) {
        FlagChecks.checkAllowed(flags, SCI_FLAG_USE_CALLBACK());
        throwIf(
                memoryType != SCI_MEMTYPE_BAR()
                        && memoryType != SCI_MEMTYPE_PRIVATE()
                        && memoryType != SCI_MEMTYPE_SHARED(),
                SCI_ERR_ILLEGAL_PARAMETER());
        checkAvailable();
        var segment =
                RemoteSegment.connect(
                        contents,
                        entry,
                        id,
                        callback,
                        Message.of(Kind.CONNECT_DEVICE_SEGMENT, number, id, memoryType, 0));
        synchronized (segments) {
            segments.removeIf(connected -> connected.link().isDisconnected());
            segments.add(segment);
        }
        if (lost) {
            segment.lost(lender); // received(Message) may not have found the segment.
        }
        return segment;
    }

    /**
     * Maps a part of a segment for the device, and returns the I/O address. In C: {@code
     * SCIMapLocalSegmentForDevice}.
     */
    public long map(LocalSegment segment, int adapter, long offset, long bytes) {
        context.topology().checkAdapter(adapter);
        checkAvailable();
        context.topology().checkLink(entry.node(), adapter);
        segment.apply(LocalSegment.Operation.REQUIRE_PREPARED, adapter, 0);
        var _ = segment.hold();
        try {
            SegmentMap.checkRange(offset, bytes, segment.bytes());
            LongConsumer signaled =
                    stored -> {
                        if (segment instanceof CreatedSegment created) {
                            created.signaled(stored);
                        }
                    };
            return map(
                    segment,
                    new Window(newWindow(), offset, bytes, segment::release, signaled),
                    () -> LinuxCalls.duplicate(segment.file()),
                    context.fabric().node(),
                    adapter);
        } catch (Throwable e) {
            segment.release();
            throw e;
        }
    }

    /**
     * Maps a part of a remote segment for the device, and returns the I/O address. In C: {@code
     * SCIMapRemoteSegmentForDevice}.
     */
    public long map(RemoteSegment segment, long offset, long bytes) {
        checkAvailable();
        var link = segment.link();
        throwIf(link.isGroup(), SCI_ERR_ILLEGAL_OPERATION());
        link.hold();
        try {
            throwIf(link.state() == SegmentLink.State.LOST, SCI_ERR_SEGMENT_NOT_CONNECTED());
            SegmentMap.checkRange(offset, bytes, link.bytes());
            var connection = link.connections().getFirst();
            return map(
                    segment,
                    new Window(
                            newWindow(),
                            offset,
                            bytes,
                            link::release,
                            stored -> connection.reportStore(stored, false)),
                    connection::duplicate,
                    segment.node(),
                    0);
        } catch (Throwable e) {
            link.release();
            throw e;
        }
    }

    private int newWindow() {
        return lastWindow.incrementAndGet();
    }

    private long map(
            Object segment,
            Window window,
            SciException.HostCall<Integer> file,
            int node,
            int adapter) {
        return contents.add(() -> {
            throwIf(windows.putIfAbsent(segment, window) != null, SCI_ERR_BUSY());
            try {
                var request =
                        OfferedDevices.mapRequest(
                                number,
                                window.number(),
                                window.offset(),
                                window.bytes(),
                                node,
                                adapter);
                return request(request.withDescriptor(file.call())).value();
            } catch (Throwable e) {
                // The memory may have been mapped, although no response has arrived.
                lender.send(unmapRequest(window));
                windows.remove(segment, window);
                throw e;
            }
        });
    }

    private Message unmapRequest(Window window) {
        return Message.of(Kind.UNMAP_FOR_DEVICE, number, window.number(), 0, 0);
    }

    /**
     * Unmaps a local or remote segment, which the device does not access any more when this method
     * returns. In C: {@code SCIUnmapLocalSegmentForDevice}, {@code SCIUnmapRemoteSegmentForDevice}.
     */
    public void unmap(Object segment) {
        var window = windows.get(segment);
        throwIf(window == null, SCI_ERR_ILLEGAL_OPERATION());
        requestEnd(unmapRequest(window));
        if (windows.remove(segment, window)) {
            window.release().run();
            contents.remove();
        }
    }

    /**
     * Sends a request that unmaps memory or returns the device. A failure is ignored if the lender
     * has ended, because then the mapping or the borrow has ended, too.
     */
    private void requestEnd(Message request) {
        if (lost || lender.isClosed()) {
            return;
        }
        try {
            var _ = context.fabric().request(lender, request);
        } catch (SciException e) {
            if (!lender.isClosed()) {
                throw e;
            }
        }
    }

    /**
     * Returns the device. Fails with SCI_ERR_BUSY while memory is mapped for the device or device
     * segments are connected. In C: {@code SCIReturnDevice}.
     */
    public void giveBack() {
        contents.close();
        requestEnd(Message.about(Kind.RETURN_DEVICE, number));
        synchronized (this) {
            throwIf(returned, SCI_ERR_ILLEGAL_PARAMETER());
            returned = true;
        }
        context.objects().remove(number);
        descriptor.remove();
    }

    @Override
    public void received(Message message) {
        if (message.kind() == Kind.DEVICE_GONE) {
            lose();
        } else if (message.kind() == Kind.DEVICE_SIGNAL) {
            for (var window : windows.values()) {
                var offset = message.value();
                if (window.number() == message.first() && offset >= 0 && offset < window.bytes()) {
                    window.signaled().accept(window.offset() + offset);
                }
            }
        }
    }

    @Override
    public void lost(Connection peer) {
        lose();
    }

    private void lose() {
        lost = true;
        synchronized (segments) {
            segments.forEach(segment -> segment.lost(lender));
        }
    }
}
