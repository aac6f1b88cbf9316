package org.jrdma.soft.roce.network;

import java.lang.reflect.Method;

/**
 * Measures the memory that the current thread has allocated. Uses reflection, because the module
 * under test does not read java.management.
 */
final class ThreadMeter {

    private static final Object BEAN;
    private static final Method ALLOCATED;

    static {
        try {
            BEAN =
                    Class.forName("java.lang.management.ManagementFactory")
                            .getMethod("getThreadMXBean")
                            .invoke(null);
            var type = Class.forName("com.sun.management.ThreadMXBean");
            ALLOCATED = type.getMethod("getCurrentThreadAllocatedBytes");
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private ThreadMeter() {}

    static long allocatedBytes() throws ReflectiveOperationException {
        return (long) ALLOCATED.invoke(BEAN);
    }
}
