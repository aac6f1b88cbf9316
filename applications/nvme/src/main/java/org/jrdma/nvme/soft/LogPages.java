package org.jrdma.nvme.soft;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.LogPage;
import org.jrdma.nvme.model.ReservationNotification;
import org.jrdma.nvme.model.SmartLog;
import org.jrdma.nvme.model.Status;

/** The log pages of a controller. */
final class LogPages {

    static final String FIRMWARE = "1.0";

    private static final int FIRMWARE_BYTES = 512;
    private static final int RETAIN_EVENT = 1 << 15;
    private static final int MAX_NOTIFICATIONS = 64;

    private record Notification(long count, int namespace, int type) {}

    private final ErrorLog errors;
    private final Statistics statistics;
    private final Features features;
    private final AsyncEvents events;
    private final DataBuffer data;
    private final Deque<Notification> notifications = new ArrayDeque<>();

    /** The number of all notifications, by which a host detects that some were dropped. */
    private long notificationCount;

    LogPages(
            ErrorLog errors,
            Statistics statistics,
            Features features,
            AsyncEvents events,
            DataBuffer data) {
        this.errors = errors;
        this.statistics = statistics;
        this.features = features;
        this.events = events;
        this.data = data;
    }

    /** Adds a notification for the host. Drops it if the host reads none of them. */
    void addNotification(int namespace, int type) {
        notificationCount++;
        if (notifications.size() < MAX_NOTIFICATIONS) {
            notifications.add(new Notification(notificationCount, namespace, type));
            events.add(AsyncEvent.RESERVATION);
        }
    }

    void clearNotifications() {
        notifications.clear();
    }

    void read(Command command, int borrower) throws CommandException {
        var id = command.dword10() & 0xff;
        var pageBytes = bytes(id);
        var dwords = Integer.toUnsignedLong(command.dword10() >>> 16 | command.dword11() << 16);
        var requested = dwords * 4 + 4;
        var offset = Integer.toUnsignedLong(command.dword12()) | (long) command.dword13() << 32;
        CommandException.require(
                requested <= DataBuffer.MAX_BYTES
                        && offset >= 0
                        && offset % 4 == 0
                        && offset <= pageBytes,
                Status.INVALID_FIELD);
        data.select(command, (int) requested, borrower);
        var page = MemorySegment.ofArray(new byte[pageBytes]);
        encode(id, page);
        var answer = data.zeroed((int) requested);
        MemorySegment.copy(page, offset, answer, 0, Math.min(requested, pageBytes - offset));
        data.write(answer, 0);
        if ((command.dword10() & RETAIN_EVENT) == 0) {
            acknowledge(id);
        }
    }

    private static int bytes(int id) throws CommandException {
        return switch (id) {
            case LogPage.ERRORS -> ErrorLog.BYTES;
            case LogPage.SMART -> SmartLog.BYTES;
            case LogPage.FIRMWARE_SLOTS -> FIRMWARE_BYTES;
            case LogPage.RESERVATION_NOTIFICATION -> ReservationNotification.BYTES;
            default -> throw new CommandException(Status.INVALID_LOG_PAGE);
        };
    }

    private void encode(int id, MemorySegment page) {
        switch (id) {
            case LogPage.ERRORS -> errors.encode(page);
            case LogPage.SMART ->
                    statistics.smartLog(features.criticalWarning(), errors.count()).encode(page);
            case LogPage.FIRMWARE_SLOTS -> {
                page.set(ValueLayout.JAVA_BYTE, 0, (byte) 1); // slot 1 is active
                page.setString(8, "%-8s".formatted(FIRMWARE), US_ASCII);
            }
            default -> notification().encode(page);
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
        if (id == LogPage.RESERVATION_NOTIFICATION
                && notifications.poll() != null
                && !notifications.isEmpty()) {
            events.add(AsyncEvent.RESERVATION);
        }
    }
}
