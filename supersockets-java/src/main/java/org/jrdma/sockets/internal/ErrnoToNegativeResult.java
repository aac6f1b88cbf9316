package org.jrdma.sockets.internal;

import static org.jrdma.ffi.linkage.Downcalls.unchecked;

import org.jrdma.ffi.linkage.CapturedErrno;

/** Calls C functions that return a negative number on failure and set errno. */
public final class ErrnoToNegativeResult {

    private ErrnoToNegativeResult() {}

    /** Calls a C function through a method handle that captures errno. */
    @FunctionalInterface
    public interface Call {
        /** Invokes the method handle with {@code invokeExact} and returns the result. */
        long invoke() throws Throwable;
    }

    /**
     * Calls a C function. Returns its result, or the negative errno if it has failed. Not for hot
     * paths.
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
