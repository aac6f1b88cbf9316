package org.jrdma.soft.roce.abi;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Upcalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The ways in which functions of libibverbs report a failure. */
public enum Failure {
    /** The function returns the errno. */
    ERRNO(int.class, "errno"),
    /** The function returns the negated errno. */
    NEGATIVE_ERRNO(long.class, "negativeErrno"),
    /** The function returns -1 and sets errno. */
    MINUS_ONE(int.class, "minusOne"),
    /** The function returns NULL and sets errno. */
    NULL(long.class, "noPointer"),
    /** The function cannot report a failure. */
    NONE(void.class, "nothing");

    private static final Logger LOG = LoggerFactory.getLogger(Failure.class);

    private static final ThreadLocal<String> EXPLANATION = ThreadLocal.withInitial(() -> "");

    private final MethodHandle handler;

    Failure(Class<?> result, String handler) {
        try {
            this.handler =
                    MethodHandles.lookup()
                            .findStatic(
                                    Failure.class,
                                    handler,
                                    MethodType.methodType(result, Throwable.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * Returns a function that converts all exceptions of another function to its error convention.
     */
    public MethodHandle guard(MethodHandle function) {
        var typed =
                handler.type().returnType() == function.type().returnType()
                        ? handler
                        : MethodHandles.explicitCastArguments(
                                handler,
                                handler.type().changeReturnType(function.type().returnType()));
        return MethodHandles.catchException(function, Throwable.class, typed);
    }

    /** The explanation of the last failure of the current thread; empty if there is none. */
    public static String explanation() {
        return EXPLANATION.get();
    }

    public static int errno(Throwable thrown) {
        try {
            if (thrown instanceof ErrnoException failure) {
                EXPLANATION.set(failure.getMessage());
            } else {
                EXPLANATION.remove();
                LOG.error("A function of the software fabric failed unexpectedly", thrown);
            }
        } catch (Throwable e) {
            EXPLANATION.remove(); // an exception in a function that C called terminates the JVM
        }
        if (thrown instanceof ErrnoException failure) {
            return failure.errno();
        }
        return thrown instanceof OutOfMemoryError ? Errno.ENOMEM : Errno.EIO;
    }

    public static long negativeErrno(Throwable thrown) {
        return -errno(thrown);
    }

    public static int minusOne(Throwable thrown) {
        Upcalls.errno(errno(thrown));
        return -1;
    }

    public static long noPointer(Throwable thrown) {
        Upcalls.errno(errno(thrown));
        return 0;
    }

    public static void nothing(Throwable thrown) {
        errno(thrown);
    }
}
