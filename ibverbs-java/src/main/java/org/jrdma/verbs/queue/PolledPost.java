package org.jrdma.verbs.queue;

import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.internal.HotPath;
import org.jspecify.annotations.Nullable;

/**
 * What prepared requests of one direction are posted to. The first thread that prepares a request
 * claims the direction, until the thread ends.
 */
public final class PolledPost<Q extends PolledWorkQueue> {

    private final NativeObject target;
    private final @Nullable NativeQueuePair queuePair;
    private final Lifetime lifetime;
    private final HotPath hotPath;
    private final long address;
    private final Q queue;
    private final int maxElements;
    private final String requests;
    private @Nullable Thread owner;

    private PolledPost(
            NativeObject target,
            @Nullable NativeQueuePair queuePair,
            Lifetime lifetime,
            HotPath hotPath,
            long address,
            Q queue,
            int maxElements,
            String requests) {
        this.target = target;
        this.queuePair = queuePair;
        this.lifetime = lifetime;
        this.hotPath = hotPath;
        this.address = address;
        this.queue = queue;
        this.maxElements = maxElements;
        this.requests = requests;
    }

    /**
     * A direction of a queue pair.
     *
     * @param target the API object, kept reachable by its requests
     * @param maxElements how many pieces of memory a request can have
     * @param requests the name of the requests in messages
     */
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

    /** The API object. */
    public NativeObject target() {
        return target;
    }

    /** The queue pair; null for a shared receive queue. */
    public @Nullable NativeQueuePair queuePair() {
        return queuePair;
    }

    /** The lifetime of the queue pair or the shared receive queue. */
    public Lifetime lifetime() {
        return lifetime;
    }

    /** The functions that post. */
    public HotPath hotPath() {
        return hotPath;
    }

    /** The address of the native queue pair or shared receive queue. */
    public long address() {
        return address;
    }

    /** How many pieces of memory a request can have. */
    public int maxElements() {
        return maxElements;
    }

    /** The slots. */
    public Q queue() {
        return queue;
    }

    /**
     * The slots, for the one thread that may use them.
     *
     * @throws WrongThreadException if another thread that is alive was the first to ask
     */
    public synchronized Q queueOfThisThread() {
        var current = Thread.currentThread();
        if (owner != null && owner != current && owner.isAlive()) {
            throw new WrongThreadException(
                    "The %s of %s are prepared by %s".formatted(requests, target, owner));
        }
        owner = current;
        return queue;
    }
}
