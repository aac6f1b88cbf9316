package org.jrdma.ffi.linkage;

/**
 * Calls into the C library of this machine, which is never Java: no room on the stack is asked for,
 * since a library in Java, for which room was made, makes such calls itself.
 */
public final class HostCalls {

    private HostCalls() {}

    /** As {@link Downcalls#call}. */
    public static <T> T call(Downcalls.Call<T> call) {
        try {
            return call.invoke();
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }
}
