package org.jrdma.sisci;

import java.lang.reflect.Method;

/**
 * The allocations of the current thread. Uses reflection, because the module under test does not
 * read the management module.
 */
final class AllocatedBytes {

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

    private AllocatedBytes() {}

    /** The operation to measure. */
    interface Round {
        void run() throws Exception;
    }

    /**
     * The number of bytes that a round allocates. Returns the minimum of several rounds, because a
     * round allocates more before it is compiled.
     */
    static long ofCompiled(Round round) throws Exception {
        var least = Long.MAX_VALUE;
        for (var rounds = 0; rounds < 20 && least > 0; rounds++) {
            var before = ofCurrentThread();
            round.run();
            least = Math.min(least, ofCurrentThread() - before);
        }
        return least;
    }

    private static long ofCurrentThread() throws ReflectiveOperationException {
        return (long) METHOD.invoke(BEAN);
    }
}
