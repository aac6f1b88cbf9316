package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.UnacknowledgedEvents;

/**
 * Where the events of an identifier go. Those who report may drive a port: nothing else is locked
 * within but a channel.
 */
final class IdentifierEvents {

    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final IdentifierObject identifier;
    private final UnacknowledgedEvents given = new UnacknowledgedEvents();
    private EventChannelObject channel;
    private boolean stopped;

    IdentifierEvents(IdentifierObject identifier, EventChannelObject channel) {
        this.identifier = identifier;
        this.channel = channel;
    }

    synchronized EventChannelObject channel() {
        return channel;
    }

    /** Those that were given out and not acknowledged. */
    UnacknowledgedEvents given() {
        return given;
    }

    /** Tells that something has come about. */
    void report(int type) {
        report(type, 0);
    }

    /** Tells what has come about, or has not. */
    void report(int type, int status) {
        report(type, status, IdentifierEvents::withoutParameters, NOTHING);
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
        // they are zeros already
    }

    /** Tells of a request, whose identifier's events come to the same channel. False at the end. */
    synchronized boolean report(IdentifierEvents made, PendingEvent request) {
        if (stopped) {
            return false;
        }
        made.beginAt(channel); // it may be another by now
        channel.report(request);
        return true;
    }

    private synchronized void beginAt(EventChannelObject first) {
        channel = first;
    }

    /** Has them come to another channel, with those that nobody has taken. */
    void migrate(EventChannelObject other) {
        for (var event : move(other)) {
            if (event.identifier() != identifier) {
                event.identifier().migrate(other); // what became of it since is told there too
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
     * Nothing is reported any more. Returns those that nobody has taken.
     *
     * @throws ErrnoException if it was stopped before
     */
    synchronized List<PendingEvent> stop() {
        ErrnoException.throwIf(stopped, Errno.EINVAL);
        stopped = true;
        return channel.remove(
                event -> event.owner() == identifier || event.identifier() == identifier);
    }
}
