package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.UnacknowledgedEvents;
import org.jrdma.soft.roce.connection.Message;

/**
 * Reports the events of an {@code rdma_cm_id} to its event channel. The reporting thread may hold
 * the lock of a port. To avoid a deadlock, this class acquires no other lock than its own and that
 * of the channel.
 */
final class IdentifierEvents {

    private final IdentifierObject identifier;
    private final UnacknowledgedEvents unacknowledged = new UnacknowledgedEvents();
    private EventChannelObject channel;
    private boolean stopped;

    IdentifierEvents(IdentifierObject identifier, EventChannelObject channel) {
        this.identifier = identifier;
        this.channel = channel;
    }

    synchronized EventChannelObject channel() {
        return channel;
    }

    /** The counter of events that the program has received and not acknowledged. */
    UnacknowledgedEvents unacknowledged() {
        return unacknowledged;
    }

    /** Reports an event with status 0. */
    void report(int type) {
        report(type, 0);
    }

    /** Reports an event without parameters. */
    void report(int type, int status) {
        report(type, status, IdentifierEvents::withoutParameters, Message.NO_DATA);
    }

    void report(
            int type, int status, Consumer<MemorySegment> parameters, MemorySegment privateData) {
        report(new PendingEvent(identifier, null, type, status, parameters, privateData));
    }

    private synchronized void report(PendingEvent event) {
        if (!stopped) {
            channel.report(event);
        }
    }

    synchronized boolean isStopped() {
        return stopped;
    }

    /** A function for {@link #report} that writes no event parameters. */
    static void withoutParameters(MemorySegment parameters) {
        // The parameters in the structure are already zeros.
    }

    /**
     * Reports a connect request that arrived at this listening {@code rdma_cm_id}. The {@code
     * rdma_cm_id} that was created for the request reports its later events to the same channel.
     *
     * @param incoming the events of the {@code rdma_cm_id} that was created for the request
     * @return false if this object was stopped; the request is not reported then
     */
    synchronized boolean report(IdentifierEvents incoming, PendingEvent request) {
        if (stopped) {
            return false;
        }
        // The listener may have migrated to another channel since the rdma_cm_id of the request was
        // created.
        incoming.beginAt(channel);
        channel.report(request);
        return true;
    }

    private synchronized void beginAt(EventChannelObject first) {
        channel = first;
    }

    /**
     * Moves this {@code rdma_cm_id} to another event channel, together with the events that the
     * program has not received.
     */
    void migrate(EventChannelObject other) {
        for (var event : move(other)) {
            if (event.identifier() != identifier) {
                // The event is a connect request: the rdma_cm_id of the request must report its
                // later events to the same channel.
                event.identifier().migrate(other);
            }
        }
    }

    private synchronized List<PendingEvent> move(EventChannelObject other) {
        var moved = channel.remove(event -> event.owner() == identifier);
        moved.forEach(other::report);
        channel = other;
        return moved;
    }

    /**
     * Stops reporting, and removes the events of this {@code rdma_cm_id} that the program has not
     * received.
     *
     * @return the removed events
     * @throws ErrnoException with {@code EINVAL} if this method was called before
     */
    synchronized List<PendingEvent> stop() {
        ErrnoException.throwIf(stopped, Errno.EINVAL);
        stopped = true;
        return channel.remove(
                event -> event.owner() == identifier || event.identifier() == identifier);
    }
}
