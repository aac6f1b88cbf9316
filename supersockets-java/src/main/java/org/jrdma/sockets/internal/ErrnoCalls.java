package org.jrdma.sockets.internal;

import static org.jrdma.ffi.linkage.Downcalls.unchecked;

import org.jrdma.ffi.linkage.CapturedErrno;

/** Calls of C functions that return a negative number on failure and set errno. */
public final class ErrnoCalls {

    private ErrnoCalls() {}

    /** A call of a C function, which captures errno. */
    @FunctionalInterface
    public interface Call {
        /** Calls the function by {@code invokeExact}, and returns its result. */
        long invoke() throws Throwable;
    }

    /**
     * Makes a call; returns the result of the function, or the negative errno if the function has
     * failed. For calls that are not on a hot path.
     */
    public static int call(Call call) {
        try {
            return result(call.invoke());
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /**
     * Returns {@code returned}, or the negative errno of the last call of this thread if {@code
     * returned} is negative.
     */
    public static int result(long returned) {
        return returned < 0 ? -CapturedErrno.value() : (int) returned;
    }
}
