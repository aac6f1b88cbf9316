package org.jrdma.verbs.queue;

import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.internal.HotPath;
import org.jspecify.annotations.Nullable;

/**
 * The target of prepared requests of one direction.
 *
 * @param target the API object, kept reachable by its requests
 * @param queuePair null for a shared receive queue
 * @param address of the native queue pair or shared receive queue
 * @param queue the slots
 * @param maxElements how many pieces of memory a request can have
 * @param requests the name of the requests in messages
 */
public record PolledPost<Q extends PolledWorkQueue>(
        NativeObject target,
        @Nullable NativeQueuePair queuePair,
        Lifetime lifetime,
        HotPath hotPath,
        long address,
        Q queue,
        int maxElements,
        String requests) {

    /** A direction of a queue pair. */
    public static <Q extends PolledWorkQueue> PolledPost<Q> to(
            NativeObject target,
            NativeQueuePair queuePair,
            Q queue,
            int maxElements,
            String requests) {
        return new PolledPost<>(
                target,
                queuePair,
                queuePair.lifetime(),
                queuePair.hotPath(),
                queuePair.address().address(),
                queue,
                maxElements,
                requests);
    }

    /** A shared receive queue. */
    public static PolledPost<PolledSharedReceives> toShared(
            NativeObject target, NativeSharedReceiveQueue<?> shared, PolledSharedReceives queue) {
        return new PolledPost<>(
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
     * The slots, for the one thread that may use them: the first that asks, until it ends.
     *
     * @throws WrongThreadException if another thread was the first, and is alive
     */
    public Q queueOfThisThread() {
        var owner = queue.claim();
        if (owner != Thread.currentThread()) {
            throw new WrongThreadException(
                    "The %s of %s are prepared by %s".formatted(requests, target, owner));
        }
        return queue;
    }
}
