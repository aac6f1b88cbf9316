package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_cq;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jspecify.annotations.Nullable;

/** The functions of libibverbs for completion queues and completion channels. */
final class CompletionExports {

    private CompletionExports() {}

    @Exported(value = "ibv_create_comp_channel", failure = ErrorConvention.NULL)
    static long createChannel(long context) {
        return CompletionChannelObject.open(ContextObject.of(context)).structure().address();
    }

    @Exported(value = "ibv_destroy_comp_channel", failure = ErrorConvention.ERRNO)
    static int destroyChannel(long channel) {
        CompletionChannelObject.of(channel).destroy();
        return 0;
    }

    @Exported(value = "ibv_create_cq", failure = ErrorConvention.NULL)
    static long createQueue(
            long context, int capacity, long userContext, long channel, int vector) {
        return create(ContextObject.of(context), capacity, userContext, channel, vector, null)
                .address();
    }

    /**
     * Creates an {@code ibv_cq} or an {@code ibv_cq_ex} and returns its structure.
     *
     * @param extension an {@code ibv_cq_init_attr_ex} to create an {@code ibv_cq_ex}; null to
     *     create an {@code ibv_cq}
     */
    static MemorySegment create(
            ContextObject owner,
            int capacity,
            long userContext,
            long channel,
            int vector,
            @Nullable MemorySegment extension) {
        ErrnoException.throwIf(vector != 0, Errno.EINVAL);
        var events = channel == 0 ? null : CompletionChannelObject.of(channel);
        ErrnoException.throwIf(events != null && events.context() != owner, Errno.EINVAL);
        return new CompletionQueueObject(owner, capacity, userContext, events, extension)
                .structure();
    }

    @Exported(value = "ibv_resize_cq", failure = ErrorConvention.ERRNO)
    static int resizeQueue(long queue, int capacity) {
        CompletionQueueObject.of(queue).resize(capacity);
        return 0;
    }

    @Exported(value = "ibv_destroy_cq", failure = ErrorConvention.ERRNO)
    static int destroyQueue(long queue) {
        var found = CompletionQueueObject.of(queue);
        found.stop();
        found.completionEvents().awaitNone();
        found.asyncEvents().awaitNone();
        found.destroy();
        return 0;
    }

    /**
     * Implements {@code ibv_get_cq_event}. Fails with {@code EAGAIN} instead of waiting if there is
     * no event, as in C if the descriptor of the channel is nonblocking.
     */
    @Exported(value = "ibv_get_cq_event", failure = ErrorConvention.MINUS_ONE)
    static int getEvent(long channel, long queueTarget, long contextTarget) {
        var queue = CompletionChannelObject.of(channel).take();
        if (queue == null) {
            throw new ErrnoException(Errno.EAGAIN);
        }
        try {
            CallerMemory.setPointer(queueTarget, queue.structure());
            CallerMemory.setPointer(contextTarget, ibv_cq.cq_context(queue.structure()));
            return 0;
        } catch (VirtualMachineError e) {
            CompletionChannelObject.of(channel).putBack(queue);
            throw e;
        }
    }

    @Exported(value = "ibv_ack_cq_events", failure = ErrorConvention.NONE)
    static void acknowledgeEvents(long queue, int events) {
        CompletionQueueObject.of(queue).completionEvents().acknowledged(events);
    }
}
