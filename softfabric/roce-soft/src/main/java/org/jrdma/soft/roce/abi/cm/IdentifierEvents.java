package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.UnacknowledgedEvents;
import org.jrdma.soft.roce.connection.Message;

/**
 * The events of an identifier. The reporting thread may be driving a port, so the only other lock
 * taken here is that of the channel.
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

    /** The events that were taken and not acknowledged. */
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

    /** For events whose parameters stay zeros. */
    static void withoutParameters(MemorySegment parameters) {
        // the structure is zeros already
    }

    /**
     * Reports a connect request. The events of its identifier go to the same channel. Returns false
     * if this identifier was stopped.
     */
    synchronized boolean report(IdentifierEvents incoming, PendingEvent request) {
        if (stopped) {
            return false;
        }
        incoming.beginAt(channel); // this identifier may have migrated since
        channel.report(request);
        return true;
    }

    private synchronized void beginAt(EventChannelObject first) {
        channel = first;
    }

    /** Moves the events, including those not taken, to another channel. */
    void migrate(EventChannelObject other) {
        for (var event : move(other)) {
            if (event.identifier() != identifier) {
                event.identifier().migrate(other); // a request and its later events belong together
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
     * Stops reporting and removes the events that were not taken.
     *
     * @return the removed events
     * @throws ErrnoException if this was stopped before
     */
    synchronized List<PendingEvent> stop() {
        ErrnoException.throwIf(stopped, Errno.EINVAL);
        stopped = true;
        return channel.remove(
                event -> event.owner() == identifier || event.identifier() == identifier);
    }
}
