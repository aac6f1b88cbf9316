package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jrdma.ffi.linkage.UpcallFunction;
import org.jrdma.soft.sisci.fabric.SciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts exceptions of exported functions to error codes. A function stores its error code at the
 * address that the program passes as the last argument.
 */
final class ErrorReport {

    private static final Logger LOG = LoggerFactory.getLogger(ErrorReport.class);
    private static final ThreadLocal<String> EXPLANATION = ThreadLocal.withInitial(() -> "");

    static {
        // Each handler is called once here, because its first call allocates memory. Later it may
        // be called when memory is exhausted.
        try (var arena = Arena.ofConfined()) {
            var code = arena.allocate(Integer.BYTES, Integer.BYTES).address();
            clear(code);
            report(new SciException(SCI_ERR_OK()), code);
            reportNoMemory(code);
            EXPLANATION.remove();
        }
    }

    private ErrorReport() {}

    /**
     * The method handles of the exception handlers. They are created after {@link ErrorReport} was
     * initialized: otherwise their first call would check the initialization, which needs memory.
     */
    private static final class Handler {

        static final MethodHandle CLEAR =
                handle("clear", MethodType.methodType(void.class, long.class));
        static final MethodHandle REPORT =
                handle("report", MethodType.methodType(void.class, Throwable.class, long.class));
        static final MethodHandle EXPLAIN =
                handle("explain", MethodType.methodType(void.class, Throwable.class));
        static final MethodHandle REPORT_NO_MEMORY =
                handle("reportNoMemory", MethodType.methodType(void.class, long.class));

        private Handler() {}

        private static MethodHandle handle(String name, MethodType type) {
            try {
                return MethodHandles.lookup().findStatic(ErrorReport.class, name, type);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }

    /**
     * Adapts a function to the error convention of C: the adapted function has an additional last
     * argument, the address of the error code. It throws nothing, and returns 0 if it fails. If
     * there is too little memory even to handle an exception, the error code is SCI_ERR_API_NOSPC.
     */
    static UpcallFunction reported(MethodHandle function) {
        var type = function.type();
        var count = type.parameterCount();
        var cleared =
                MethodHandles.foldArguments(
                        MethodHandles.dropArguments(function, count, long.class),
                        count,
                        Handler.CLEAR);
        var failed = MethodHandles.dropArguments(Handler.REPORT, 1, type.parameterList());
        var reported =
                MethodHandles.catchException(
                        cleared, Throwable.class, returningZero(failed, type.returnType()));
        var lastResort =
                MethodHandles.dropArguments(
                        MethodHandles.dropArguments(
                                Handler.REPORT_NO_MEMORY, 0, type.parameterList()),
                        0,
                        Throwable.class);
        return new UpcallFunction(reported, returningZero(lastResort, type.returnType()));
    }

    /**
     * Adapts a function whose C signature has no error code: the adapted function throws nothing,
     * and returns 0 if it fails.
     */
    static UpcallFunction silent(MethodHandle function) {
        var result = function.type().returnType();
        var explained =
                MethodHandles.catchException(
                        function, Throwable.class, returningZero(Handler.EXPLAIN, result));
        var lastResort = MethodHandles.empty(MethodType.methodType(result, Throwable.class));
        return new UpcallFunction(explained, lastResort);
    }

    private static MethodHandle returningZero(MethodHandle handler, Class<?> result) {
        return result == void.class
                ? handler
                : MethodHandles.filterReturnValue(handler, MethodHandles.zero(result));
    }

    private static void clear(long address) {
        if (address != 0) {
            UncheckedMemory.setInt(address, SCI_ERR_OK());
        }
    }

    private static void report(Throwable thrown, long address) {
        if (address != 0) {
            UncheckedMemory.setInt(address, SciException.codeOf(thrown));
        }
        explain(thrown);
    }

    private static void reportNoMemory(long address) {
        if (address != 0) {
            UncheckedMemory.setInt(address, SCI_ERR_API_NOSPC());
        }
    }

    /**
     * Stores or logs the message of a failure. Never throws, because an exception in a function
     * that C called would terminate the JVM.
     */
    private static void explain(Throwable thrown) {
        try {
            EXPLANATION.remove();
            if (thrown instanceof SciException refusal) {
                EXPLANATION.set(String.valueOf(refusal.getMessage()));
            } else {
                LOG.error("A function of the software fabric failed", thrown);
            }
        } catch (Throwable e) {
            // Storing or logging the message failed, probably because memory is exhausted. The
            // caller still returns the error code.
        }
    }

    /**
     * Returns the message of the last failure of a C function on the current thread. It explains
     * the error code.
     */
    static String explanation() {
        return EXPLANATION.get();
    }
}
