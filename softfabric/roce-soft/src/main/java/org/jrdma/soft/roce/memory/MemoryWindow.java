package org.jrdma.soft.roce.memory;

import org.jspecify.annotations.Nullable;

/**
 * A key for peers to a part of a region, which requests on a send queue change. Made by {@link
 * MemoryRegistry}, under whose lock it is used; only its key may be read without.
 */
public final class MemoryWindow {

    /** How a window is bound, and by what it is unbound. */
    public enum Type {
        /** Bound anew at any time; for every queue pair of its domain. */
        ONE,
        /** Bound when it is not, until it is invalidated; for the queue pair that bound it (2B). */
        TWO
    }

    public final ProtectionDomain domain;
    public final Type type;
    public volatile int key;

    /** What it is bound to; and what stands for the part of it in the registry. */
    @Nullable MemoryRegion region;

    @Nullable MemoryRegion view;

    public MemoryWindow(ProtectionDomain domain, Type type, int key) {
        this.domain = domain;
        this.type = type;
        this.key = key;
    }

    /** The key by which peers name it, or will when it is bound but for the lowest 8 bits. */
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
