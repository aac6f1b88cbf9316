package org.jrdma.ffi;

import java.lang.foreign.MemorySegment;

/**
 * Something that exists in a native library or in the kernel, and must be closed.
 *
 * <p>An object is owned by the one that made it and closed with it; closing an owner closes what it
 * still owns, newest first. Using an object after its close throws {@link IllegalStateException},
 * from whichever thread, and is never worse than that.
 */
public abstract class NativeObject implements AutoCloseable {

    private final Lifetime lifetime;
    private final MemorySegment address;

    /** An object at {@code address}, from now until its lifetime's close. */
    @SuppressWarnings("this-escape") // the cleaner only watches it
    protected NativeObject(MemorySegment address, Lifetime lifetime) {
        this.address = address;
        this.lifetime = lifetime;
        Leaks.watch(this, lifetime);
    }

    /**
     * Destroys the native object, after everything that depends on it. Closing twice is fine. Waits
     * for calls in flight on other threads, which is a matter of microseconds unless the type says
     * otherwise. What the system refuses is logged.
     */
    @Override
    public void close() {
        lifetime.close();
    }

    /** Whether close() has not begun. */
    public final boolean isOpen() {
        return !lifetime.isClosed();
    }

    /**
     * Has something run when close() begins, by whomever, before anything is destroyed: to end
     * waits for what will not come any more. It runs on the thread that closes, and must not wait;
     * at once, if close() has begun. As long as this is open it is kept, with all that it knows.
     */
    public final void onClose(Runnable wakeup) {
        lifetime.onClose(wakeup);
    }

    /** Ends an {@link #onClose}: the same {@code wakeup} does not run any more. */
    public final void noLongerOnClose(Runnable wakeup) {
        lifetime.noLongerOnClose(wakeup);
    }

    /**
     * The C structure's address: the way down, for what this SDK does not wrap yet. Nothing guards
     * its use.
     *
     * @throws IllegalStateException if the object is closed
     */
    public final MemorySegment address() {
        if (lifetime.isClosed()) {
            throw lifetime.closedException();
        }
        return address;
    }

    /** When this object may be used; for the binding that made it. */
    protected final Lifetime lifetime() {
        return lifetime;
    }

    /** The kind of object and what tells it from others, as in messages. */
    @Override
    public final String toString() {
        return lifetime.toString();
    }
}
