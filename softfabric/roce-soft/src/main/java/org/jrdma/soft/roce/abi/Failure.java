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
    /** The error number is the result. */
    ERRNO(int.class, "errno"),
    /** The result is the error number, below zero. */
    NEGATIVE_ERRNO(long.class, "negativeErrno"),
    /** The result is -1, and errno tells more. */
    MINUS_ONE(int.class, "minusOne"),
    /** The result is NULL, and errno tells more. */
    NULL(long.class, "noPointer"),
    /** It cannot fail; what it is called for cannot be there. */
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

    /** The function, which then lets nothing escape but reports it in this way. */
    public MethodHandle guard(MethodHandle function) {
        var typed =
                handler.type().returnType() == function.type().returnType()
                        ? handler
                        : MethodHandles.explicitCastArguments(
                                handler,
                                handler.type().changeReturnType(function.type().returnType()));
        return MethodHandles.catchException(function, Throwable.class, typed);
    }

    /** What is to be said of the current thread's last failure beside its number. */
    public static String explanation() {
        return EXPLANATION.get();
    }

    public static int errno(Throwable thrown) {
        if (thrown instanceof ErrnoException refusal) {
            EXPLANATION.set(refusal.getMessage());
            return refusal.errno();
        }
        EXPLANATION.set("");
        try {
            LOG.error("The software fabric failed in a function that C called", thrown);
        } catch (Throwable unloggable) {
            // nothing may leave a function that C called
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
