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
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
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

    private static final int FIRST_CALLS = 130;

    /** More than the bytes of heap that {@link #prepare} needs. */
    private static final int PREPARATION_BYTES = 1 << 20;

    private Upcalls() {}

    /**
     * Creates a function pointer that stays valid as long as the JVM runs, because C code may keep
     * it. A pointer in C is a {@code long} in Java, so that a call does not allocate an object for
     * it. An exception that a call threw would terminate the JVM, also if there is no memory left.
     *
     * @throws OutOfMemoryError if there is too little memory to create the stub. If other threads
     *     exhaust the memory during this method, the JVM may still terminate
     */
    public static MemorySegment stub(UpcallFunction function) {
        var type = function.handle().type();
        var implementation = new Implementation(throwing(type));
        var separated =
                MethodHandles.foldArguments(
                        MethodHandles.exactInvoker(type),
                        Implementation.HANDLE.bindTo(implementation));
        var guarded =
                MethodHandles.catchException(separated, Throwable.class, function.withoutMemory());
        var stub = LINKER.upcallStub(guarded, descriptor(type), Arena.global());
        checkFreeHeap();
        prepare(stub, type);
        implementation.handle = function.handle();
        return stub;
    }

    /**
     * The method handle behind a stub. Because the field is not final, the JIT compiles the
     * exception handler of the stub and the implementation separately. If a path of compiled code
     * needs objects that the compiler has replaced by local variables, and there is no memory for
     * them, then the JVM skips all exception handlers of this compiled code.
     */
    private static final class Implementation {

        private static final MethodHandle HANDLE = getter();

        @SuppressWarnings("unused") // Read through HANDLE.
        private volatile MethodHandle handle;

        private Implementation(MethodHandle handle) {
            this.handle = handle;
        }

        private static MethodHandle getter() {
            try {
                return MethodHandles.lookup()
                        .findGetter(Implementation.class, "handle", MethodHandle.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }

    private static MethodHandle throwing(MethodType type) {
        return MethodHandles.dropArguments(
                MethodHandles.throwException(type.returnType(), Preparation.class)
                        .bindTo(new Preparation()),
                0,
                type.parameterList());
    }

    /** Throws OutOfMemoryError here, where it does not terminate the JVM. */
    private static void checkFreeHeap() {
        var _ = new byte[PREPARATION_BYTES];
    }

    /**
     * Calls a stub so often that the JVM does not allocate memory for later calls outside of the
     * exception handler: it links the stub at the first call, and replaces the method handle by a
     * specialized one after 127 calls.
     */
    private static void prepare(MemorySegment stub, MethodType type) {
        var arguments = new Object[1 + type.parameterCount()];
        arguments[0] = stub;
        for (var i = 0; i < type.parameterCount(); i++) {
            arguments[1 + i] = Array.get(Array.newInstance(type.parameterType(i), 1), 0); // zero
        }
        var call =
                MethodHandles.insertArguments(Downcalls.plain(descriptor(type)), 0, arguments)
                        .asType(MethodType.methodType(void.class));
        try {
            for (var calls = 0; calls < FIRST_CALLS; calls++) {
                call.invokeExact();
            }
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** Ends the calls that prepare a stub. */
    private static final class Preparation extends Error {

        private static final long serialVersionUID = 1;

        private Preparation() {
            super("The stub is not ready yet", null, false, false);
        }
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
