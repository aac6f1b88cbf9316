package org.jrdma.ffi.linkage;

import java.lang.reflect.Method;

/**
 * The number of bytes that a thread has allocated. Uses reflection, because the module under test
 * does not read the management module.
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
