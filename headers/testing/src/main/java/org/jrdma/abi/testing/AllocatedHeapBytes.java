package org.jrdma.abi.testing;

import java.lang.reflect.Method;

/**
 * The number of bytes that the current thread allocates. It is read by reflection, because the
 * tested modules do not read the module java.management.
 */
public final class AllocatedHeapBytes {

    private static final Object BEAN;
    private static final Method METHOD;

    static {
        try {
            BEAN =
                    Class.forName("java.lang.management.ManagementFactory")
                            .getMethod("getThreadMXBean")
                            .invoke(null);
            METHOD =
                    Class.forName("com.sun.management.ThreadMXBean")
                            .getMethod("getCurrentThreadAllocatedBytes");
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private AllocatedHeapBytes() {}

    /** The operation to measure. */
    public interface Round {
        void run() throws Exception;
    }

    /**
     * Returns the number of bytes that one round allocates: the minimum of several rounds, because
     * the first rounds allocate more until they are compiled.
     */
    public static long ofCompiled(Round round) throws Exception {
        var least = Long.MAX_VALUE;
        for (var rounds = 0; rounds < 20 && least > 0; rounds++) {
            var before = ofCurrentThread();
            round.run();
            least = Math.min(least, ofCurrentThread() - before);
        }
        return least;
    }

    /** Returns the number of bytes that the current thread has allocated since its start. */
    public static long ofCurrentThread() throws ReflectiveOperationException {
        return (long) METHOD.invoke(BEAN);
    }
}
