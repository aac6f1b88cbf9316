package org.jrdma.sockets.internal;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache of objects, each of which one thread uses for one call. Threads with the same slot share
 * a cached object, so there are about as many objects as threads that run at the same time.
 */
public final class ScratchCache<T> {

    private static final int SLOTS = 64;

    private final AtomicReferenceArray<@Nullable T> slots = new AtomicReferenceArray<>(SLOTS);
    private final Supplier<T> maker;

    /**
     * Creates an empty cache.
     *
     * @param maker creates an object if the slot of the thread is empty
     */
    public ScratchCache(Supplier<T> maker) {
        this.maker = maker;
    }

    /** Returns an object that no other thread uses until the caller returns it. */
    public T take() {
        var cached = slots.getAndSet(slot(), null);
        return cached == null ? maker.get() : cached;
    }

    /** Returns an object to the cache. */
    public void release(T scratch) {
        slots.setRelease(slot(), scratch);
    }

    private static int slot() {
        return (int) (Thread.currentThread().threadId() & (SLOTS - 1));
    }
}
