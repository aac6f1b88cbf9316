package org.jrdma.sockets.internal;

import static org.jrdma.ffi.linkage.Downcalls.unchecked;

import org.jrdma.ffi.linkage.CapturedErrno;

/** Calls of C functions that return a negative number on failure and set errno. */
public final class ErrnoCalls {

    private ErrnoCalls() {}

    /** A call that captures errno. */
    @FunctionalInterface
    public interface Call {
        /** Invokes a method handle exactly. */
        long invoke() throws Throwable;
    }

    /** Makes a call that is not on a hot path; returns its result, or the negative errno. */
    public static int call(Call call) {
        try {
            return result(call.invoke());
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Returns the result of the last call of this thread, or the negative errno. */
    public static int result(long returned) {
        return returned < 0 ? -CapturedErrno.value() : (int) returned;
    }
}
