package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.ADDRESS;
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

/** C functions written in Java, for a {@link org.jrdma.ffi.LibraryProvider}. */
public final class Upcalls {

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemorySegment ERRNO_LOCATION =
            LINKER.defaultLookup().findOrThrow("__errno_location");
    private static final MethodHandle LOCATE = Downcalls.plain(FunctionDescriptor.of(ADDRESS));

    private Upcalls() {}

    /**
     * A function pointer to Java, valid for as long as the JVM runs: C may keep it for ever. What
     * is a pointer in C is a long in Java, so that a call makes no object for it.
     *
     * @param function must let nothing escape, as that would end the JVM
     */
    public static MemorySegment stub(MethodHandle function) {
        return LINKER.upcallStub(function, descriptor(function.type()), Arena.global());
    }

    /** How C sees a Java method of numbers. */
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
                .orElseThrow(() -> new IllegalArgumentException(number + " is no number of C"));
    }

    /**
     * Leaves an error number for the caller. Must be the last thing that a stub does: the JVM makes
     * calls of its own that change it.
     */
    public static void errno(int number) {
        try {
            AddressSpace.setInt(
                    ((MemorySegment) LOCATE.invokeExact(ERRNO_LOCATION)).address(), number);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }
}
