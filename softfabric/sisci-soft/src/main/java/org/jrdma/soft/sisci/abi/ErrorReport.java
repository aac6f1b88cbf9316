package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jrdma.soft.sisci.fabric.SciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The error reporting of exported functions. A function stores its error code at the address that
 * the program passes as the last argument.
 */
final class ErrorReport {

    private static final Logger LOG = LoggerFactory.getLogger(ErrorReport.class);
    private static final ThreadLocal<String> EXPLANATION = ThreadLocal.withInitial(() -> "");
    private static final MethodHandle CLEAR =
            handle("clear", MethodType.methodType(void.class, long.class));
    private static final MethodHandle REPORT =
            handle("report", MethodType.methodType(void.class, Throwable.class, long.class));
    private static final MethodHandle NOTE =
            handle("note", MethodType.methodType(int.class, Throwable.class));

    private ErrorReport() {}

    private static MethodHandle handle(String name, MethodType type) {
        try {
            return MethodHandles.lookup().findStatic(ErrorReport.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * Adapts a function to one that takes the address of the error code as an additional last
     * argument. The adapted function throws nothing, and returns 0 if it fails.
     */
    static MethodHandle reported(MethodHandle function) {
        var type = function.type();
        var count = type.parameterCount();
        var cleared =
                MethodHandles.foldArguments(
                        MethodHandles.dropArguments(function, count, long.class), count, CLEAR);
        var failed = MethodHandles.dropArguments(REPORT, 1, type.parameterList());
        return MethodHandles.catchException(
                cleared, Throwable.class, returningZero(failed, type.returnType()));
    }

    /** Adapts a function without an error code: it throws nothing, and returns 0 if it fails. */
    static MethodHandle silent(MethodHandle function) {
        return MethodHandles.catchException(
                function,
                Throwable.class,
                returningZero(
                        NOTE.asType(NOTE.type().changeReturnType(void.class)),
                        function.type().returnType()));
    }

    private static MethodHandle returningZero(MethodHandle handler, Class<?> result) {
        return result == void.class
                ? handler
                : MethodHandles.filterReturnValue(handler, MethodHandles.zero(result));
    }

    @SuppressWarnings("unused") // called through a method handle
    private static void clear(long address) {
        if (address != 0) {
            UncheckedMemory.setInt(address, SCI_ERR_OK());
        }
    }

    @SuppressWarnings("unused") // called through a method handle
    private static void report(Throwable thrown, long address) {
        var code = note(thrown);
        if (address != 0) {
            UncheckedMemory.setInt(address, code);
        }
    }

    private static int note(Throwable thrown) {
        try {
            if (thrown instanceof SciException refusal) {
                EXPLANATION.set(String.valueOf(refusal.getMessage()));
            } else {
                EXPLANATION.remove();
                LOG.error("A function of the software fabric failed", thrown);
            }
        } catch (Throwable e) {
            EXPLANATION.remove(); // an exception that left this function would terminate the JVM
        }
        if (thrown instanceof SciException refusal) {
            return refusal.code();
        }
        return thrown instanceof OutOfMemoryError ? SCI_ERR_API_NOSPC() : SCI_ERR_SYSTEM();
    }

    /**
     * Returns the explanation of the last failure on the current thread, which supplements the
     * error code.
     */
    static String explanation() {
        return EXPLANATION.get();
    }
}
