package org.jrdma.nvme.soft;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Status;
import org.jspecify.annotations.Nullable;

/**
 * The asynchronous events of a controller, and the requests by which the driver waits for them.
 * After an event was reported, further events of its type wait until the driver has read the log
 * page of the event.
 */
final class AsyncEvents {

    static final int REQUEST_LIMIT = 4;

    /** A request that is completed by an event. */
    record Report(int commandId, AsyncEvent event) {}

    private final Deque<Integer> requests = new ArrayDeque<>();
    private final List<AsyncEvent> pending = new ArrayList<>();
    private final Set<Integer> unacknowledgedTypes = new HashSet<>();

    /** Adds an event unless the same event is pending. */
    void add(AsyncEvent event) {
        if (!pending.contains(event)) {
            pending.add(event);
        }
    }

    /** Removes an event that has not been reported. */
    void remove(AsyncEvent event) {
        pending.remove(event);
    }

    void request(int commandId) throws CommandException {
        CommandException.require(requests.size() < REQUEST_LIMIT, Status.ASYNC_EVENT_LIMIT);
        requests.add(commandId);
    }

    boolean isRequested(int commandId) {
        return requests.contains(commandId);
    }

    /** Removes a request. Returns false if it does not exist. */
    boolean abort(int commandId) {
        return requests.remove(commandId);
    }

    /** Takes a request and the event that completes it; null if there is none. */
    @Nullable Report next() {
        if (requests.isEmpty()) {
            return null;
        }
        for (var event : pending) {
            if (unacknowledgedTypes.add(event.type())) {
                pending.remove(event);
                return new Report(requests.remove(), event);
            }
        }
        return null;
    }

    /** Reports further events of the types that the log page describes. */
    void acknowledge(int logPage) {
        unacknowledgedTypes.removeIf(type -> logPageOf(type) == logPage);
    }

    private static int logPageOf(int type) {
        return switch (type) {
            case AsyncEvent.ERROR -> AsyncEvent.PERSISTENT_ERROR.logPage();
            case AsyncEvent.SMART -> AsyncEvent.TEMPERATURE.logPage();
            case AsyncEvent.NOTICE -> AsyncEvent.NAMESPACE_CHANGED.logPage();
            default -> AsyncEvent.RESERVATION.logPage();
        };
    }

    void dropRequests() {
        requests.clear();
        unacknowledgedTypes.clear();
    }

    void clear() {
        dropRequests();
        pending.clear();
    }
}
