package org.jrdma.ffi.linkage;

import java.lang.reflect.Method;

/**
 * The number of bytes that the current thread has allocated. It is read by reflection, because the
 * tested module does not read the module java.management.
 */
final class HeapAllocation {

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

    private HeapAllocation() {}

    static long ofCurrentThread() throws ReflectiveOperationException {
        return (long) METHOD.invoke(BEAN);
    }
}
