package org.jrdma.ffi.guard;

/**
 * The permission of close() to wait for another close(). A thread lacks the permission in code that
 * a close() may be waiting for: a callback of a close, a destructor, and a callback of a polling
 * thread. If such code closes an object that another thread, or the current thread, is already
 * closing, waiting for that close could last forever.
 */
public final class CloseWaitPermission {

    private static final ScopedValue<Boolean> FORBIDDEN = ScopedValue.newInstance();
    private static final ScopedValue.Carrier FORBID = ScopedValue.where(FORBIDDEN, true);

    private CloseWaitPermission() {}

    /** Returns true if close() may wait for a close that has already begun. */
    public static boolean isGranted() {
        return !FORBIDDEN.isBound();
    }

    /**
     * Runs code during which {@link #isGranted()} returns false on this thread: close() does not
     * wait for a close that has already begun.
     */
    public static void forbidDuring(Runnable code) {
        FORBID.run(code);
    }

    /** Runs code that may throw an exception like {@link #forbidDuring(Runnable)}. */
    public static <T, X extends Throwable> T callForbidding(ScopedValue.CallableOp<T, X> code)
            throws X {
        return FORBID.call(code);
    }
}
