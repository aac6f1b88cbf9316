package org.jrdma.soft.roce.memory;

import org.jspecify.annotations.Nullable;

/**
 * A memory window: a key for a part of a region, which requests on a send queue change. Created by
 * {@link MemoryRegistry} and guarded by its lock; only the key may be read without the lock.
 */
public final class MemoryWindow {

    /** The type of a window, which determines how it is bound and unbound. */
    public enum Type {
        /** Can be bound again at any time. Valid for all queue pairs of its domain. */
        ONE,
        /**
         * Can be bound while unbound, and stays bound until it is invalidated. Valid for the queue
         * pair that bound it (type 2B).
         */
        TWO
    }

    public final ProtectionDomain domain;
    public final Type type;
    public volatile int key;

    /** The region that the window is bound to, and the view in the registry; null while unbound. */
    @Nullable MemoryRegion region;

    @Nullable MemoryRegion view;

    public MemoryWindow(ProtectionDomain domain, Type type, int key) {
        this.domain = domain;
        this.type = type;
        this.key = key;
    }

    /** The key by which peers name the window. Binding may change its lowest 8 bits. */
    public int key() {
        return key;
    }

    /** Whether the window is bound to a region. */
    public boolean isBound() {
        return view != null;
    }

    public Type type() {
        return type;
    }
}
