package org.jrdma.ffi.linkage;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Checks that enough stack is left for a call of a C function that is implemented in Java. A stack
 * overflow inside such a function terminates the JVM. An overflow during the check throws an
 * ordinary {@link StackOverflowError} instead.
 *
 * <p>The check calls a generated method that does nothing and has very many local variables. The
 * interpreter reserves stack for these variables. Compiled code does not, but the JVM must be able
 * to continue the method in the interpreter at each call that the method makes. Therefore, the
 * compiled code touches the stack as far down as the interpreter's frame would reach, with one
 * store for each page.
 */
public final class StackSpace {

    /**
     * The number of {@code nop} instructions that prevents inlining of the generated method: the
     * JIT inlines frequently called methods of up to 325 bytes.
     */
    private static final int NOP_COUNT = 400;

    /**
     * The number of calls with work after which the hot path is assumed to be compiled. Compiled
     * code needs less stack than the interpreter.
     */
    private static final int COLD_CALLS = 20_000;

    /** True after a library was opened that may be written in Java. */
    private static volatile boolean enabled;

    /**
     * The number of calls that {@link #recordWork()} has counted, up to {@link #COLD_CALLS}. The
     * counter is not synchronized: a lost update only delays the switch to the smaller check.
     */
    private static int callsWithWork;

    private StackSpace() {}

    /** Enables the check. Called when a library is opened that may be written in Java. */
    static void enable() {
        enabled = true;
        ensure(); // generates the methods now, while enough stack is left
    }

    /** Checks that enough stack is left for a call that may load classes. */
    static void ensure() {
        if (enabled) {
            enter(Methods.COLD);
        }
    }

    /**
     * Checks that enough stack is left for a frequently repeated call of a library written in Java.
     */
    public static void ensureForHotPath() {
        if (callsWithWork < COLD_CALLS) {
            enter(Methods.COLD);
        } else {
            enter(Methods.HOT);
        }
    }

    /**
     * Counts a call on the hot path that processed work. Many polls process none, and are therefore
     * not counted.
     */
    public static void recordWork() {
        if (callsWithWork < COLD_CALLS) {
            callsWithWork++;
        }
    }

    private static void enter(MethodHandle method) {
        try {
            method.invokeExact(true);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /**
     * Holder of the generated methods. It is initialized only if a library may be written in Java.
     */
    private static final class Methods {

        /**
         * A method with a frame of 128 KiB: enough for the deepest calls of the JDK, which occur
         * when classes are first used.
         */
        static final MethodHandle COLD = methodWithFrame(128 << 10);

        /** A method with a frame of 16 KiB: enough for code that is compiled and has run before. */
        static final MethodHandle HOT = methodWithFrame(16 << 10);
    }

    /**
     * Generates a method with a frame of {@code bytes} bytes. The method calls itself once, because
     * compiled code without a call never continues in the interpreter. The method is too long to be
     * inlined.
     */
    private static MethodHandle methodWithFrame(int bytes) {
        var name = "frame";
        var self = ClassDesc.of(StackSpace.class.getPackageName(), "StackFrame");
        var type = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_boolean);
        var code =
                ClassFile.of()
                        .build(
                                self,
                                frame ->
                                        frame.withMethodBody(
                                                name,
                                                type,
                                                ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC,
                                                body -> {
                                                    body.iconst_0().istore(bytes / Long.BYTES - 1);
                                                    for (var i = 0; i < NOP_COUNT; i++) {
                                                        body.nop();
                                                    }
                                                    body.iload(0)
                                                            .ifThen(again ->
                                                                    again.iconst_0()
                                                                            .invokestatic(
                                                                                    self, name,
                                                                                    type))
                                                            .return_();
                                                }));
        try {
            var lookup = MethodHandles.lookup().defineHiddenClass(code, true);
            return lookup.findStatic(
                    lookup.lookupClass(), name, MethodType.methodType(void.class, boolean.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
