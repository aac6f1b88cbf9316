package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jrdma.abi.rdma.rdma_event_channel;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of an {@code rdma_event_channel}, with a queue of the events that the program
 * has not received yet. Safe for use by multiple threads.
 */
final class EventChannelObject {

    private final MemorySegment structure;
    private final RaisableDescriptor descriptor;
    private final ArrayQueue<PendingEvent> events = new ArrayQueue<>();
    private boolean destroyed;

    EventChannelObject() {
        this.descriptor = ErrnoException.convert(RaisableDescriptor::open);
        try {
            this.structure = StructureRegistry.allocate(rdma_event_channel.layout(), this);
        } catch (Throwable e) {
            descriptor.close();
            throw e;
        }
        rdma_event_channel.fd(structure, descriptor.number());
    }

    static EventChannelObject of(long address) {
        return StructureRegistry.object(address, EventChannelObject.class);
    }

    MemorySegment structure() {
        return structure;
    }

    /** Adds an event, unless the channel was destroyed. The caller may hold the lock of a port. */
    synchronized void report(PendingEvent event) {
        if (destroyed) {
            return;
        }
        var first = events.isEmpty();
        events.addLast(event); // First, because this allocation may throw OutOfMemoryError.
        if (first) {
            descriptor.raise();
        }
    }

    synchronized boolean isEmpty() {
        return events.isEmpty();
    }

    /** Returns the oldest event, or null if there is no event. */
    synchronized @Nullable PendingEvent first() {
        return events.peekFirst();
    }

    /** Removes the event that {@link #first} has returned. */
    synchronized void removeFirst() {
        var _ = events.removeFirst();
        if (events.isEmpty()) {
            descriptor.lower();
        }
    }

    /** Removes all events that match a filter, and returns them. */
    synchronized List<PendingEvent> remove(Predicate<PendingEvent> filter) {
        var removed = new ArrayList<PendingEvent>(events.size());
        events.removeIf(event -> filter.test(event) && removed.add(event));
        if (!removed.isEmpty() && events.isEmpty()) {
            descriptor.lower();
        }
        return removed;
    }

    synchronized void destroy() {
        destroyed = true;
        events.clear();
        descriptor.close();
        StructureRegistry.release(structure);
    }
}
