package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jrdma.ffi.linkage.AddressSpace;
import org.jrdma.soft.sisci.fabric.SciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How functions of libsisci report a failure: by a number where their last argument says. */
final class ErrorCode {

    private static final Logger LOG = LoggerFactory.getLogger(ErrorCode.class);
    private static final ThreadLocal<String> EXPLANATION = ThreadLocal.withInitial(() -> "");
    private static final MethodHandle CLEAR =
            handle("clear", MethodType.methodType(void.class, long.class));
    private static final MethodHandle REPORT =
            handle("report", MethodType.methodType(void.class, Throwable.class, long.class));
    private static final MethodHandle NOTE =
            handle("note", MethodType.methodType(int.class, Throwable.class));

    private ErrorCode() {}

    private static MethodHandle handle(String name, MethodType type) {
        try {
            return MethodHandles.lookup().findStatic(ErrorCode.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * The function with one more argument, the address of the error code. It lets nothing escape; a
     * function that fails answers 0.
     */
    static MethodHandle reported(MethodHandle function) {
        var type = function.type();
        var count = type.parameterCount();
        var taking =
                MethodHandles.foldArguments(
                        MethodHandles.dropArguments(function, count, long.class), count, CLEAR);
        var failed = MethodHandles.dropArguments(REPORT, 1, type.parameterList());
        return MethodHandles.catchException(
                taking, Throwable.class, answeringZero(failed, type.returnType()));
    }

    /** The function, which lets nothing escape and answers 0 where it fails. */
    static MethodHandle silent(MethodHandle function) {
        return MethodHandles.catchException(
                function,
                Throwable.class,
                answeringZero(
                        NOTE.asType(NOTE.type().changeReturnType(void.class)),
                        function.type().returnType()));
    }

    private static MethodHandle answeringZero(MethodHandle handler, Class<?> result) {
        return result == void.class
                ? handler
                : MethodHandles.filterReturnValue(handler, MethodHandles.zero(result));
    }

    @SuppressWarnings("unused") // called by a handle
    private static void clear(long address) {
        if (address != 0) {
            AddressSpace.setInt(address, SCI_ERR_OK());
        }
    }

    @SuppressWarnings("unused") // called by a handle
    private static void report(Throwable thrown, long address) {
        var code = note(thrown);
        if (address != 0) {
            AddressSpace.setInt(address, code);
        }
    }

    private static int note(Throwable thrown) {
        if (thrown instanceof SciException refusal) {
            EXPLANATION.set(String.valueOf(refusal.getMessage()));
            return refusal.code();
        }
        EXPLANATION.set("");
        try {
            LOG.error("The software fabric failed in a function that C called", thrown);
        } catch (Throwable unloggable) {
            // nothing may leave a function that C called
        }
        return thrown instanceof OutOfMemoryError ? SCI_ERR_API_NOSPC() : SCI_ERR_SYSTEM();
    }

    /** What is to be said of the current thread's last failure beside its number. */
    static String explanation() {
        return EXPLANATION.get();
    }
}
