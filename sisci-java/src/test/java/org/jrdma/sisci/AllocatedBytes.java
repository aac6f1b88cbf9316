package org.jrdma.sisci;

import java.lang.reflect.Method;

/**
 * What the current thread allocates. By reflection, since the module under test does not read the
 * one of management.
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

    /** What is run. */
    interface Round {
        void run() throws Exception;
    }

    /**
     * How many bytes a round allocates once it is compiled, which takes some rounds: the least of
     * them.
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
