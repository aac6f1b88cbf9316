package org.jrdma.ffi.linkage;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * Main program of a separate JVM. An upcall takes a path that its compiled code does not contain
 * while the heap is full. The JVM then allocates the objects that the compiler has replaced by
 * local variables, and if it cannot, it ends all methods of the compiled code without their
 * exception handlers.
 */
final class FullHeapUpcallProgram {

    private static final MethodType TYPE = MethodType.methodType(int.class, long.class);
    private static final int CALLS = 100_000;

    private static @Nullable Object filler;

    @SuppressWarnings("unused") // The compiler must not replace an object that is stored here.
    private static @Nullable Numbers published;

    private record Numbers(long a, long b, long c, long d, long e, long f, long g, long h) {}

    private FullHeapUpcallProgram() {}

    public static void main(String... arguments) throws Throwable {
        var function =
                new UpcallFunction(
                        MethodHandles.lookup().findStatic(FullHeapUpcallProgram.class, "sum", TYPE),
                        MethodHandles.dropArguments(
                                MethodHandles.constant(int.class, -1), 0, Throwable.class));
        var stub = Upcalls.stub(function);
        var call = Downcalls.plain(Upcalls.descriptor(TYPE));
        for (var i = 0; i < CALLS; i++) {
            var _ = (int) call.invokeExact(stub, 0L);
        }
        fillHeap();
        var result = (int) call.invokeExact(stub, 1L);
        filler = null;

        System.out.println("result " + result);
    }

    @SuppressWarnings("unused") // Called through a stub.
    private static int sum(long n) {
        var numbers = new Numbers(n, n, n, n, n, n, n, n);
        if (n != 0) {
            published = numbers;
        }
        return (int) (numbers.a() + numbers.h());
    }

    private static void fillHeap() {
        for (var bytes = 1 << 20; bytes >= 16; bytes /= 4) {
            try {
                while (true) {
                    filler = new Object[] {filler, new byte[bytes]};
                }
            } catch (OutOfMemoryError e) {
                // A smaller array may still fit.
            }
        }
    }
}
