package org.jrdma.verbs.queue;

import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jspecify.annotations.Nullable;

/**
 * The queue that prepared requests are posted to: a send queue, a receive queue or a shared receive
 * queue.
 *
 * @param target the API object, which its prepared requests keep reachable
 * @param queuePair the queue pair; null for a shared receive queue
 * @param address the address of the native queue pair or shared receive queue
 * @param queue the work queue that counts the slots
 * @param maxElements the maximum number of memory slices in a request
 * @param requests the plural name of the requests in messages, such as {@code receives}
 */
public record PostTarget<Q extends PolledWorkQueueSlots>(
        NativeObject target,
        @Nullable NativeQueuePair queuePair,
        Lifetime lifetime,
        PostAndPollFunctions hotPath,
        long address,
        Q queue,
        int maxElements,
        String requests) {

    /** Returns the send queue or the receive queue of a queue pair as a target. */
    public static <Q extends PolledWorkQueueSlots> PostTarget<Q> to(
            NativeObject target,
            NativeQueuePair queuePair,
            Q queue,
            int maxElements,
            String requests) {
        return new PostTarget<>(
                target,
                queuePair,
                queuePair.lifetime(),
                queuePair.hotPath(),
                queuePair.address().address(),
                queue,
                maxElements,
                requests);
    }

    /** Returns a shared receive queue as a target. */
    public static PostTarget<PolledSharedReceiveSlots> toShared(
            NativeObject target,
            NativeSharedReceiveQueue<?> shared,
            PolledSharedReceiveSlots queue) {
        return new PostTarget<>(
                target,
                null,
                shared.lifetime(),
                shared.hotPath(),
                shared.address().address(),
                queue,
                shared.elements(),
                "receives");
    }

    /**
     * Returns the work queue if the current thread is its owner. The first thread that calls this
     * method becomes the owner. When the owner has terminated, the next caller becomes the owner.
     *
     * @throws WrongThreadException if another live thread is the owner
     */
    public Q queueForCurrentThread() {
        var owner = queue.claim();
        if (owner != Thread.currentThread()) {
            throw new WrongThreadException(
                    "The %s of %s can only be prepared by their owner, %s"
                            .formatted(requests, target, owner));
        }
        return queue;
    }
}
