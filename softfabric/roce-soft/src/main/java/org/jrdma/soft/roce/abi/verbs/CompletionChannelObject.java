package org.jrdma.soft.roce.abi.verbs;

import java.util.ArrayDeque;
import org.jrdma.abi.rdma.ibv_comp_channel;
import org.jrdma.ffi.linkage.EventDescriptor;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of an {@code ibv_comp_channel}, with a queue of completion events. Each event
 * is represented by its completion queue, and remains in the queue until the program receives it.
 */
final class CompletionChannelObject extends ContextResource {

    private final EventDescriptor descriptor;
    private final ArrayDeque<CompletionQueueObject> events = new ArrayDeque<>();

    CompletionChannelObject(ContextObject context) {
        var opened = ErrnoException.convert(EventDescriptor::open);
        super(context, ibv_comp_channel.layout());
        this.descriptor = opened;
        ibv_comp_channel.context(structure(), context().address());
        ibv_comp_channel.fd(structure(), descriptor.number());
        context().own(this);
    }

    static CompletionChannelObject of(long address) {
        return StructureRegistry.object(address, CompletionChannelObject.class);
    }

    /**
     * Adds an event of a completion queue. The file descriptor of the channel becomes readable if
     * it was not.
     */
    synchronized void report(CompletionQueueObject queue) {
        if (events.isEmpty()) {
            descriptor.raise();
        }
        events.addLast(queue);
    }

    /**
     * Removes the oldest event and returns its completion queue, or returns null if there is no
     * event. The caller must pass the event to the program, which must acknowledge it.
     */
    synchronized @Nullable CompletionQueueObject take() {
        var queue = events.pollFirst();
        if (queue != null) {
            queue.completionEvents().taken();
            if (events.isEmpty()) {
                descriptor.lower();
            }
        }
        return queue;
    }

    /** Removes all events of a completion queue that the program has not received. */
    synchronized void forget(CompletionQueueObject queue) {
        if (events.removeIf(reported -> reported == queue) && events.isEmpty()) {
            descriptor.lower();
        }
    }

    @Override
    void destroy() {
        super.destroy();
        descriptor.close();
    }
}
