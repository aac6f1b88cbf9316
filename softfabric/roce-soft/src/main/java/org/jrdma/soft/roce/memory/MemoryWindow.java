package org.jrdma.soft.roce.memory;

import org.jspecify.annotations.Nullable;

/**
 * A memory window: a key that grants peers access to a part of a memory region. Work requests on a
 * send queue bind and unbind the window. {@link MemoryRegistry} creates windows, and its lock
 * guards their fields. Only the key may be read without the lock.
 */
public final class MemoryWindow {

    /** The type of a window, which determines how it is bound and unbound. */
    public enum Type {
        /**
         * Can be bound while it is unbound or bound. All queue pairs of the window's protection
         * domain can use it.
         */
        ONE,
        /**
         * Can be bound only while it is unbound, and remains bound until it is invalidated or
         * freed, or its region is deregistered. Only the queue pair that has bound the window can
         * use it (type 2B).
         */
        TWO
    }

    public final ProtectionDomain domain;
    public final Type type;
    public volatile int key;

    /** The region that the window is bound to; null while the window is unbound. */
    @Nullable MemoryRegion region;

    /**
     * The view that the registry finds by the key of this window; null while the window is unbound.
     */
    @Nullable MemoryRegion view;

    public MemoryWindow(ProtectionDomain domain, Type type, int key) {
        this.domain = domain;
        this.type = type;
        this.key = key;
    }

    /** The key that peers use to access the window. Binding may change its lower 8 bits. */
    public int key() {
        return key;
    }

    /** Returns true if the window is bound to a region. */
    public boolean isBound() {
        return view != null;
    }

    public Type type() {
        return type;
    }
}
