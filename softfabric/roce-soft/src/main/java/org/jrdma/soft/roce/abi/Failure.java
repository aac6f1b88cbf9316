package org.jrdma.soft.roce.abi;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Upcalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The conventions by which functions of libibverbs and librdmacm report a failure to the C caller.
 */
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
     * Returns a function that calls another function and converts each exception that it throws to
     * this error convention. An exception must not reach C code, because it would terminate the
     * JVM.
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

    /**
     * The explanation of the last failure of an exported function that the current thread called,
     * or an empty string if there was no failure or it had no explanation.
     */
    public static String explanation() {
        return EXPLANATION.get();
    }

    /**
     * Returns the errno for an exception that an exported function has thrown, and stores the
     * explanation of the failure for the current thread. An exception other than an {@link
     * ErrnoException} is unexpected, and is logged. This method is the handler of {@link #ERRNO}.
     */
    public static int errno(Throwable thrown) {
        if (thrown instanceof ErrnoException failure) {
            EXPLANATION.set(failure.getMessage());
            return failure.errno();
        }
        EXPLANATION.set("");
        try {
            LOG.error("A function of the software fabric failed with an unexpected exception", thrown);
        } catch (Throwable ignored) {
            // An exception in a function that C calls would terminate the JVM.
        }
        return thrown instanceof OutOfMemoryError ? Errno.ENOMEM : Errno.EIO;
    }

    /** The handler of {@link #NEGATIVE_ERRNO}. */
    public static long negativeErrno(Throwable thrown) {
        return -errno(thrown);
    }

    /** The handler of {@link #MINUS_ONE}. */
    public static int minusOne(Throwable thrown) {
        Upcalls.errno(errno(thrown));
        return -1;
    }

    /** The handler of {@link #NULL}. */
    public static long noPointer(Throwable thrown) {
        Upcalls.errno(errno(thrown));
        return 0;
    }

    /**
     * The handler of {@link #NONE}: records the explanation and logs unexpected exceptions only.
     */
    public static void nothing(Throwable thrown) {
        errno(thrown);
    }
}
