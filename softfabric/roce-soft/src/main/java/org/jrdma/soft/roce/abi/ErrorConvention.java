package org.jrdma.soft.roce.abi;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.UpcallFunction;
import org.jrdma.ffi.linkage.Upcalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The ways in which functions of libibverbs report a failure. */
public enum ErrorConvention {
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

    private static final Logger LOG = LoggerFactory.getLogger(ErrorConvention.class);

    private static final ThreadLocal<String> EXPLANATION = ThreadLocal.withInitial(() -> "");

    static {
        // A handler is called once here, because its first call allocates memory. Later it may be
        // called when memory is exhausted.
        var thrown = new ErrnoException(Errno.EIO);
        minusOne(thrown);
        noPointer(thrown);
        negativeErrno(thrown);
        nothing(thrown);
        EXPLANATION.remove();
        Upcalls.errno(0);
    }

    private final MethodHandle handler;

    ErrorConvention(Class<?> result, String handler) {
        try {
            this.handler =
                    MethodHandles.lookup()
                            .findStatic(
                                    ErrorConvention.class,
                                    handler,
                                    MethodType.methodType(result, Throwable.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * Returns a function that converts all exceptions of another function to its error convention.
     * If there is too little memory even for that, the function returns the value for ENOMEM, or
     * for an unspecified failure.
     */
    public UpcallFunction guard(MethodHandle function) {
        var result = function.type().returnType();
        var typed =
                handler.type().returnType() == result
                        ? handler
                        : MethodHandles.explicitCastArguments(
                                handler, handler.type().changeReturnType(result));
        return new UpcallFunction(
                MethodHandles.catchException(function, Throwable.class, typed),
                MethodHandles.dropArguments(withoutMemory(result), 0, Throwable.class));
    }

    private MethodHandle withoutMemory(Class<?> result) {
        var value =
                switch (this) {
                    case ERRNO -> Errno.ENOMEM;
                    case NEGATIVE_ERRNO -> -Errno.ENOMEM;
                    case MINUS_ONE -> -1;
                    case NULL, NONE -> 0;
                };
        return result == void.class
                ? MethodHandles.empty(MethodType.methodType(void.class))
                : MethodHandles.explicitCastArguments(
                        MethodHandles.constant(int.class, value), MethodType.methodType(result));
    }

    /**
     * The message of the last failure of a C function on the current thread; empty if there is
     * none.
     */
    public static String explanation() {
        return EXPLANATION.get();
    }

    public static int errno(Throwable thrown) {
        explain(thrown);
        if (thrown instanceof ErrnoException failure) {
            return failure.errno();
        }
        return thrown instanceof OutOfMemoryError ? Errno.ENOMEM : Errno.EIO;
    }

    /**
     * Stores or logs the message of a failure. Never throws, because an exception in a function
     * that C called terminates the JVM.
     */
    private static void explain(Throwable thrown) {
        try {
            EXPLANATION.remove();
            if (thrown instanceof ErrnoException failure) {
                EXPLANATION.set(failure.getMessage());
            } else {
                LOG.error("A function of the software fabric failed unexpectedly", thrown);
            }
        } catch (Throwable e) {
            // Storing or logging the message failed, probably because memory is exhausted. The
            // caller still returns the error code.
        }
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
