package org.jrdma.sisci;

import java.lang.reflect.Method;

/**
 * What a thread has allocated so far. By reflection, since the module under test does not read the
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

    static long ofCurrentThread() throws ReflectiveOperationException {
        return (long) METHOD.invoke(BEAN);
    }
}
