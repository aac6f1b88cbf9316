package org.jrdma.ffi;

import java.lang.foreign.MemorySegment;

/**
 * An object of a native library or of the kernel, which must be closed.
 *
 * <p>An object is owned by the object that created it. Closing an owner closes the objects that it
 * still owns, newest first. The use of a closed object throws {@link IllegalStateException} on any
 * thread, and never accesses freed memory.
 */
public abstract class NativeObject implements AutoCloseable {

    private final Lifetime lifetime;
    private final MemorySegment address;

    /**
     * Creates an object for the structure at {@code address}, which is valid until the lifetime is
     * closed.
     */
    @SuppressWarnings("this-escape") // the cleaner only watches it
    protected NativeObject(MemorySegment address, Lifetime lifetime) {
        this.address = address;
        this.lifetime = lifetime;
        Leaks.watch(this, lifetime);
    }

    /**
     * Closes the objects that depend on this object, then destroys it. Closing again has no effect.
     * Waits for calls in flight on other threads, which takes microseconds unless the type
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
     * must not block. If close() has begun, it runs at once on the calling thread. This object
     * keeps a reference to the callback while it is open.
     */
    public final void onClose(Runnable wakeup) {
        lifetime.onClose(wakeup);
    }

    /** Unregisters a callback of {@link #onClose}. */
    public final void removeOnClose(Runnable wakeup) {
        lifetime.removeOnClose(wakeup);
    }

    /**
     * The address of the C structure, for native functions that this SDK does not wrap. The use of
     * the address is not guarded against close().
     *
     * @throws IllegalStateException if the object is closed
     */
    public final MemorySegment address() {
        if (lifetime.isClosed()) {
            throw lifetime.closedException();
        }
        return address;
    }

    /** The lifetime of this object, for the binding that created it. */
    protected final Lifetime lifetime() {
        return lifetime;
    }

    /** The kind of object and its identification, for messages. */
    @Override
    public final String toString() {
        return lifetime.toString();
    }
}
