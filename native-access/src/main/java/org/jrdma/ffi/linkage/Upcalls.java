package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.stream.Stream;

/**
 * Creates upcall stubs and sets errno, for libraries that implement C functions in Java, see {@link
 * org.jrdma.ffi.LibraryProvider}.
 */
public final class Upcalls {

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemorySegment ERRNO_LOCATION =
            LINKER.defaultLookup().findOrThrow("__errno_location");

    // Returns a number, because a MemorySegment would be allocated, which may fail after an
    // OutOfMemoryError.
    private static final MethodHandle LOCATE = Downcalls.plain(FunctionDescriptor.of(JAVA_LONG));

    private Upcalls() {}

    /**
     * Creates a function pointer that stays valid as long as the JVM runs, because C code may keep
     * it. A pointer in C is a {@code long} in Java, so that a call does not allocate an object for
     * it.
     *
     * @param function the implementation, which must not throw, because an exception would
     *     terminate the JVM
     */
    public static MemorySegment stub(MethodHandle function) {
        return LINKER.upcallStub(function, descriptor(function.type()), Arena.global());
    }

    /**
     * Returns the C signature of a Java method whose parameters and result are primitive numbers.
     */
    public static FunctionDescriptor descriptor(MethodType type) {
        var arguments =
                type.parameterList().stream().map(Upcalls::layout).toArray(MemoryLayout[]::new);
        return type.returnType() == void.class
                ? FunctionDescriptor.ofVoid(arguments)
                : FunctionDescriptor.of(layout(type.returnType()), arguments);
    }

    private static MemoryLayout layout(Class<?> number) {
        return Stream.<ValueLayout>of(JAVA_BYTE, JAVA_SHORT, JAVA_INT, JAVA_LONG)
                .filter(layout -> layout.carrier() == number)
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException(number + " has no corresponding type in C"));
    }

    /**
     * Sets errno for the C code that has called the upcall stub. This must be the last action of
     * the stub, because the JVM makes calls that may change errno.
     */
    public static void errno(int number) {
        try {
            UncheckedMemory.setInt((long) LOCATE.invokeExact(ERRNO_LOCATION), number);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }
}
