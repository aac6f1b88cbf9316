package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.ffi.linkage.SeqPacketSocket.Packet.NO_DESCRIPTOR;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jrdma.soft.sisci.device.DeviceBorrowedOrReturnedEvent;
import org.jrdma.soft.sisci.device.DeviceModel;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The devices that this process lends, and their borrows. Safe for use by multiple threads. */
public final class OfferedDevices {

    private static final Logger LOG = LoggerFactory.getLogger(OfferedDevices.class);

    /** If so many messages to a process are unsent, its requests are dropped. */
    private static final int MAX_BACKLOG = 1024;

    /** If so many requests of a process wait, its further requests are refused. */
    private static final int MAX_WAITING = 128;

    /**
     * The limit for waiting requests that return a device or unmap memory. It is higher than the
     * number of borrows and windows of a process.
     */
    private static final int MAX_WAITING_CLEAN_UPS = 2 * DeviceWindowQuota.MAX_OF_PROCESS;

    private static final int MAP_DATA_BYTES = Long.BYTES + Integer.BYTES;

    private final ProcessContext context;
    private final PeerLookupAndRequests fabric;
    private final PerConnectionExecutor requests;
    private final DeviceWindowQuota quota = new DeviceWindowQuota();
    private final Map<Integer, OfferedDevice> bySlot = new ConcurrentHashMap<>();
    private final Map<Borrower, OfferedDevice> byBorrower = new ConcurrentHashMap<>();

    /**
     * A process that has borrowed a device, with the number that it has chosen for the borrow. It
     * can be this process.
     */
    record Borrower(Connection connection, int number) {}

    OfferedDevices(ProcessContext context) {
        this.context = context;
        this.fabric = context.fabric();
        this.requests = new PerConnectionExecutor(context.workers());
    }

    /** Starts a device, and offers it to all processes of the fabric. */
    public OfferedDevice lend(DeviceModel model, Consumer<DeviceBorrowedOrReturnedEvent> listener) {
        var entry = SciException.translate(() -> fabric.directory().locked(this::reserveSlot));
        try {
            var device = OfferedDevice.start(context, this, entry, model, listener);
            bySlot.put(entry.number(), device);
            return device;
        } catch (Throwable e) {
            fabric.delete(entry);
            throw e;
        }
    }

    private ObjectAnnouncementFile reserveSlot() throws FabricException {
        var directory = fabric.directory();
        directory.sweep(); // Another lender may have been killed.
        for (var slot = 1; slot <= LentDeviceDescription.MAX_SLOT; slot++) {
            if (directory.find(fabric.node(), ObjectAnnouncementFile.Kind.DEVICE, slot).isEmpty()) {
                var entry =
                        new ObjectAnnouncementFile(
                                fabric.node(),
                                ObjectAnnouncementFile.Kind.DEVICE,
                                slot,
                                fabric.number());
                directory.mark(entry);
                return entry;
            }
        }
        throw new SciException(SCI_ERR_NOSPC(), "The node has no free slot for a device.");
    }

    DeviceWindowQuota quota() {
        return quota;
    }

    void remove(OfferedDevice device) {
        bySlot.remove(device.slot(), device);
        byBorrower.values().removeIf(lent -> lent == device);
    }

    /** Withdraws all devices, because this process leaves the fabric. */
    void close() {
        bySlot.values().forEach(OfferedDevice::close);
    }

    void received(Connection from, Message message) {
        if (from.backlog() >= MAX_BACKLOG && !isCleanUp(message)) {
            return; // The peer does not receive its responses, which may carry descriptors.
        }
        PeerLookupAndRequests.handle(
                from,
                message,
                () -> {
                    if (message.kind() == Kind.IDENTIFY_DEVICE) {
                        var device = require(message.subject());
                        new DeviceDescriptionMessage(device.identity(), device.state())
                                .respond(from, message);
                    } else {
                        enqueue(from, message);
                    }
                });
    }

    /**
     * Returns true for requests that return a device or unmap memory. If such a request were
     * dropped, the device would remain borrowed or the memory mapped.
     */
    private static boolean isCleanUp(Message message) {
        return message.kind() == Kind.RETURN_DEVICE || message.kind() == Kind.UNMAP_FOR_DEVICE;
    }

    private void enqueue(Connection from, Message message) {
        var memory =
                message.kind() == Kind.MAP_FOR_DEVICE
                        ? duplicate(message.descriptor())
                        : NO_DESCRIPTOR;
        try {
            requests.add(
                    from,
                    isCleanUp(message) ? MAX_WAITING_CLEAN_UPS : MAX_WAITING,
                    () ->
                            PeerLookupAndRequests.handle(
                                    from, message, () -> handle(from, message, memory)));
        } catch (Throwable e) {
            if (memory != NO_DESCRIPTOR) {
                SystemCalls.close(memory);
            }
            throw e;
        }
    }

    private static int duplicate(int descriptor) {
        // This process has too many descriptors.
        throwIf(descriptor == NO_DESCRIPTOR, SCI_ERR_NOSPC());
        return SciException.translate(() -> LinuxCalls.duplicate(descriptor));
    }

    /** Handles a request on a worker thread. */
    private void handle(Connection from, Message message, int memory) {
        var borrower = new Borrower(from, message.subject());
        switch (message.kind()) {
            case MAKE_DEVICE_AVAILABLE -> {
                require(message.subject()).makeAvailable(message.first() != 0);
                from.respond(message, SCI_ERR_OK(), 0);
            }
            case BORROW_DEVICE -> {
                throwIf(byBorrower.containsKey(borrower), SCI_ERR_ILLEGAL_PARAMETER());
                var device = require(message.first());
                device.lendTo(borrower, message.second() != 0);
                byBorrower.put(borrower, device);
                from.respond(message, SCI_ERR_OK(), 0);
            }
            case RETURN_DEVICE -> {
                end(borrower);
                from.respond(message, SCI_ERR_OK(), 0);
            }
            case CONNECT_DEVICE_SEGMENT -> {
                var shared = require(borrower).share(borrower, message.first(), message.second());
                from.respondWithDescriptor(message, shared.bytes(), shared.descriptor());
            }
            case CREATE_DEVICE_SEGMENT -> {
                require(borrower)
                        .createSegment(
                                borrower, message.first(), message.second(), message.value());
                from.respond(message, SCI_ERR_OK(), 0);
            }
            case MAP_FOR_DEVICE -> {
                try {
                    from.respond(message, SCI_ERR_OK(), map(borrower, message, memory));
                } finally {
                    SystemCalls.close(memory);
                }
            }
            case UNMAP_FOR_DEVICE -> {
                var device = byBorrower.get(borrower);
                if (device != null) {
                    device.unmap(borrower, message.first());
                }
                from.respond(message, SCI_ERR_OK(), 0);
            }
            default -> throw new AssertionError(message);
        }
    }

    private long map(Borrower borrower, Message message, int memory) {
        throwIf(message.data().length != MAP_DATA_BYTES, SCI_ERR_ILLEGAL_PARAMETER());
        var data = ByteBuffer.wrap(message.data());
        return require(borrower)
                .map(
                        borrower,
                        message.first(),
                        memory,
                        message.value(),
                        data.getLong(),
                        data.getInt(),
                        message.second());
    }

    /** Returns the request to map memory, without the descriptor of the memory. */
    static Message mapRequest(
            int borrow, int window, long offset, long bytes, int node, int adapter) {
        return Message.of(Kind.MAP_FOR_DEVICE, borrow, window, adapter, offset)
                .withData(ByteBuffer.allocate(MAP_DATA_BYTES).putLong(bytes).putInt(node).array());
    }

    private OfferedDevice require(int slot) {
        var device = bySlot.get(slot);
        throwIf(device == null, SCI_ERR_NOT_AVAILABLE());
        return device;
    }

    private OfferedDevice require(Borrower borrower) {
        var device = byBorrower.get(borrower);
        throwIf(device == null, SCI_ERR_NOT_AVAILABLE());
        return device;
    }

    private void end(Borrower borrower) {
        var device = byBorrower.remove(borrower);
        if (device != null) {
            device.end(borrower);
        }
    }

    /** Ends the borrows of a process that has ended, after the requests that it has sent before. */
    void lost(Connection connection) {
        var isBorrower =
                !requests.isIdle(connection)
                        || byBorrower.keySet().stream()
                                .anyMatch(borrower -> borrower.connection() == connection);
        if (!isBorrower) {
            return;
        }
        try {
            requests.addLast(connection, () -> endAll(connection));
        } catch (RejectedExecutionException e) {
            LOG.debug("This process leaves the fabric, and withdraws its devices", e);
        }
    }

    private void endAll(Connection connection) {
        for (var borrower : byBorrower.keySet()) {
            if (borrower.connection() == connection) {
                try {
                    end(borrower);
                } catch (RuntimeException e) {
                    LOG.error("A device failed when a borrow ended", e);
                }
            }
        }
    }
}
