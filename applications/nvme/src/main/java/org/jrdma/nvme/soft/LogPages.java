package org.jrdma.nvme.soft;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.DiscoveryLog;
import org.jrdma.nvme.model.LogPage;
import org.jrdma.nvme.model.ReservationNotification;
import org.jrdma.nvme.model.SmartLog;
import org.jrdma.nvme.model.Status;

/** Executes the get log page command: encodes the log pages of a controller. */
final class LogPages {

    static final String FIRMWARE = "1.0";

    private static final int FIRMWARE_BYTES = 512;
    private static final int CHANGED_NAMESPACES_BYTES = Subsystem.MAX_NAMESPACES * Integer.BYTES;
    private static final ValueLayout.OfInt INT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int RETAIN_EVENT = 1 << 15;
    private static final int MAX_NOTIFICATIONS = 64;

    private record Notification(long count, int namespace, int type) {}

    private final Subsystem subsystem;
    private final ErrorLog errors;
    private final Statistics statistics;
    private final Features features;
    private final AsyncEvents events;
    private final HostDataBuffer data;
    private final Deque<Notification> notifications = new ArrayDeque<>();

    /** The number of all notifications, by which a host detects that some were dropped. */
    private long notificationCount;

    /** The ids of the namespaces that have changed since the driver has read their log page. */
    private final Set<Integer> changedNamespaces = new TreeSet<>();

    LogPages(
            Subsystem subsystem,
            ErrorLog errors,
            Statistics statistics,
            Features features,
            AsyncEvents events,
            HostDataBuffer data) {
        this.subsystem = subsystem;
        this.errors = errors;
        this.statistics = statistics;
        this.features = features;
        this.events = events;
        this.data = data;
    }

    /** Adds a notification for the host. Drops the notification if too many are unread. */
    void addNotification(int namespace, int type) {
        notificationCount++;
        if (notifications.size() < MAX_NOTIFICATIONS) {
            notifications.add(new Notification(notificationCount, namespace, type));
            events.add(AsyncEvent.RESERVATION);
        }
    }

    /** Adds a namespace that was added, resized or removed. */
    void addChangedNamespace(int id) {
        changedNamespaces.add(id);
        if (features.reportsNamespaceChanges()) {
            events.add(AsyncEvent.NAMESPACE_CHANGED);
        }
    }

    void clearNotifications() {
        notifications.clear();
        changedNamespaces.clear();
    }

    void read(Command command) throws CommandException {
        var id = command.dword10() & 0xff;
        var page = MemorySegment.ofArray(encode(id));
        var dwords = Integer.toUnsignedLong(command.dword10() >>> 16 | command.dword11() << 16);
        var requested = dwords * 4 + 4;
        var offset = Integer.toUnsignedLong(command.dword12()) | (long) command.dword13() << 32;
        CommandException.require(
                requested <= HostDataBuffer.MAX_BYTES
                        && offset >= 0
                        && offset % 4 == 0
                        && offset <= page.byteSize(),
                Status.INVALID_FIELD);
        data.select(command, (int) requested);
        var answer = data.zeroed((int) requested);
        MemorySegment.copy(page, offset, answer, 0, Math.min(requested, page.byteSize() - offset));
        data.write(answer, 0);
        if ((command.dword10() & RETAIN_EVENT) == 0) {
            acknowledge(id);
        }
    }

    private byte[] encode(int id) throws CommandException {
        return switch (id) {
            case LogPage.ERRORS -> page(ErrorLog.BYTES, errors::encode);
            case LogPage.SMART ->
                    page(
                            SmartLog.BYTES,
                            statistics.smartLog(features.criticalWarning(), errors.count())
                                    ::encode);
            case LogPage.FIRMWARE_SLOTS -> page(FIRMWARE_BYTES, LogPages::encodeFirmware);
            case LogPage.CHANGED_NAMESPACES ->
                    page(CHANGED_NAMESPACES_BYTES, this::encodeChangedNamespaces);
            case LogPage.RESERVATION_NOTIFICATION ->
                    page(ReservationNotification.BYTES, notification()::encode);
            case LogPage.DISCOVERY -> {
                var log =
                        subsystem
                                .discoveryLog()
                                .orElseThrow(() -> new CommandException(Status.INVALID_LOG_PAGE));
                yield page(DiscoveryLog.bytes(log.entries().size()), log::encode);
            }
            default -> throw new CommandException(Status.INVALID_LOG_PAGE);
        };
    }

    private static byte[] page(int bytes, Consumer<MemorySegment> encoder) {
        var page = new byte[bytes];
        encoder.accept(MemorySegment.ofArray(page));
        return page;
    }

    private static void encodeFirmware(MemorySegment page) {
        page.set(ValueLayout.JAVA_BYTE, 0, (byte) 1); // slot 1 is active
        page.setString(8, "%-8s".formatted(FIRMWARE), US_ASCII);
    }

    private void encodeChangedNamespaces(MemorySegment page) {
        var offset = 0L;
        for (var id : changedNamespaces) {
            page.set(INT, offset, id);
            offset += Integer.BYTES;
        }
    }

    private ReservationNotification notification() {
        var oldest = notifications.peek();
        return oldest == null
                ? new ReservationNotification(0, 0, 0, 0)
                : new ReservationNotification(
                        oldest.count(),
                        oldest.type(),
                        notifications.size() - 1,
                        oldest.namespace());
    }

    private void acknowledge(int id) {
        events.acknowledge(id);
        if (id == LogPage.CHANGED_NAMESPACES) {
            changedNamespaces.clear();
            events.remove(AsyncEvent.NAMESPACE_CHANGED); // the driver has read all changes
        }
        if (id == LogPage.RESERVATION_NOTIFICATION
                && notifications.poll() != null
                && !notifications.isEmpty()) {
            events.add(AsyncEvent.RESERVATION);
        }
    }
}
