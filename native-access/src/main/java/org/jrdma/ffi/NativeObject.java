package org.jrdma.ffi;

import java.lang.foreign.MemorySegment;

/**
 * An object of a native library or of the kernel that the program must close.
 *
 * <p>An object is owned by the object that created it. Closing an owner first closes the objects
 * that it still owns, newest first. Using a closed object throws {@link IllegalStateException} on
 * every thread, and never accesses freed memory.
 */
public abstract class NativeObject implements AutoCloseable {

    private final Lifetime lifetime;
    private final MemorySegment address;

    /**
     * Creates an object for the structure at {@code address}, which is valid until the lifetime is
     * closed.
     */
    @SuppressWarnings("this-escape") // Leaks registers this object but does not use it.
    protected NativeObject(MemorySegment address, Lifetime lifetime) {
        this.address = address;
        this.lifetime = lifetime;
        Leaks.watch(this, lifetime);
    }

    /**
     * Closes the objects that depend on this object, then destroys it. Closing again has no effect.
     * Waits for native calls in progress on other threads, which takes microseconds unless the type
     * specifies otherwise. Errors of the system are logged.
     */
    @Override
    public void close() {
        lifetime.close();
    }

    /** Returns true if close() has not begun. */
    public final boolean isOpen() {
        return !lifetime.isClosed();
    }

    /**
     * Registers a callback that runs when close() begins, before anything is destroyed. Use it to
     * end waits for events that will no longer occur. The callback runs on the closing thread and
     * must not block. If close() has already begun, the callback runs immediately on the calling
     * thread. This object refers to the callback while the object is open.
     */
    public final void onClose(Runnable wakeup) {
        lifetime.onClose(wakeup);
    }

    /** Unregisters a callback that was registered by {@link #onClose}. */
    public final void removeOnClose(Runnable wakeup) {
        lifetime.removeOnClose(wakeup);
    }

    /**
     * Returns the address of the C structure, for native functions that this SDK does not wrap. The
     * caller must ensure that the object is not closed while the address is in use.
     *
     * @throws IllegalStateException if the object is closed
     */
    public final MemorySegment address() {
        if (lifetime.isClosed()) {
            throw lifetime.closedException();
        }
        return address;
    }

    /** Returns the lifetime of this object, for use by the binding that created the object. */
    protected final Lifetime lifetime() {
        return lifetime;
    }

    /** Returns the kind of object and its identification, for messages. */
    @Override
    public final String toString() {
        return lifetime.toString();
    }
}
