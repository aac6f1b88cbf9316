package org.jrdma.soft.roce.abi.verbs;

import java.util.ArrayDeque;
import org.jrdma.abi.rdma.ibv_comp_channel;
import org.jrdma.ffi.linkage.EventDescriptor;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Structures;
import org.jspecify.annotations.Nullable;

/**
 * The object of an {@code ibv_comp_channel}, with the completion queues whose events were not taken
 * yet.
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
        return Structures.object(address, CompletionChannelObject.class);
    }

    /** Reports an event of a completion queue. */
    synchronized void report(CompletionQueueObject queue) {
        if (events.isEmpty()) {
            descriptor.raise();
        }
        events.addLast(queue);
    }

    /** Takes the next event and returns its completion queue; null if there is none. */
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

    /** Removes the events of a completion queue that were not taken. */
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
