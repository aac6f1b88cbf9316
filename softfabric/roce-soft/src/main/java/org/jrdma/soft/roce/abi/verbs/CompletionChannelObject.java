package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_comp_channel;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of an {@code ibv_comp_channel}, with a queue of completion events. An event
 * remains in the queue until the program receives it.
 */
final class CompletionChannelObject extends ContextResource {

    private final RaisableDescriptor descriptor;

    /**
     * The first of the completion queues that have events in this channel, a list that is linked by
     * {@link CompletionQueueObject#nextInChannel}. Because of the links, reporting an event
     * allocates nothing.
     */
    private @Nullable CompletionQueueObject first;

    private @Nullable CompletionQueueObject last;

    /** Creates a channel and its descriptor. */
    static CompletionChannelObject open(ContextObject context) {
        var opened = ErrnoException.convert(RaisableDescriptor::open);
        try {
            return new CompletionChannelObject(context, opened);
        } catch (Throwable e) {
            opened.close();
            throw e;
        }
    }

    private CompletionChannelObject(ContextObject context, RaisableDescriptor descriptor) {
        super(context, ibv_comp_channel.layout());
        this.descriptor = descriptor;
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
        if (first == null) {
            descriptor.raise();
        }
        if (queue.eventsInChannel++ == 0) {
            append(queue);
        }
    }

    private void append(CompletionQueueObject queue) {
        if (last == null) {
            first = queue;
        } else {
            last.nextInChannel = queue;
        }
        last = queue;
    }

    private void remove(@Nullable CompletionQueueObject before, CompletionQueueObject queue) {
        if (before == null) {
            first = queue.nextInChannel;
        } else {
            before.nextInChannel = queue.nextInChannel;
        }
        if (last == queue) {
            last = before;
        }
        queue.nextInChannel = null;
        if (first == null) {
            descriptor.lower();
        }
    }

    /**
     * Removes the oldest event and returns its completion queue, or returns null if there is no
     * event. The caller must pass the event to the program, which must acknowledge it.
     */
    synchronized @Nullable CompletionQueueObject take() {
        var queue = first;
        if (queue != null) {
            queue.completionEvents().taken();
            if (--queue.eventsInChannel == 0) {
                remove(null, queue);
            }
        }
        return queue;
    }

    /**
     * Puts an event back after {@link #take}, because there is too little memory to pass the event
     * to the program.
     */
    synchronized void putBack(CompletionQueueObject queue) {
        report(queue);
        queue.completionEvents().acknowledged(1);
    }

    /** Removes all events of a completion queue that the program has not received. */
    synchronized void forget(CompletionQueueObject queue) {
        CompletionQueueObject before = null;
        for (var other = first; other != null; other = other.nextInChannel) {
            if (other == queue) {
                queue.eventsInChannel = 0;
                remove(before, queue);
                return;
            }
            before = other;
        }
    }

    @Override
    void destroy() {
        super.destroy();
        descriptor.close();
    }
}
