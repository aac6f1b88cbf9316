package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.sisci.SoftSisciOptions;

/**
 * Calls functions while the heap is full, and prints the number of error codes. Then uses the
 * fabric as usual. Runs in a JVM of its own.
 */
final class FullHeap {

    private static final int WARM_UP_CALLS = 3;
    private static final int CALLS = 10;

    // A C program passes pointers, which need no memory on the heap.
    private static final MethodHandle CREATE =
            Downcalls.plain(
                    FunctionDescriptor.ofVoid(
                            JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                            JAVA_INT, JAVA_LONG));
    private static final MethodHandle OPEN =
            Downcalls.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle TEXT =
            Downcalls.plain(FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

    /** The objects that fill the heap, as a linked list. */
    private static Object[] filler;

    private FullHeap() {}

    /** Argument: the folder of the fabric. */
    public static void main(String... arguments) throws Throwable {
        var options = SoftSisciOptions.in(Path.of(arguments[0]));
        var self = LibraryCaller.in(options);
        var descriptor = self.open();
        var symbols = self.fabric().symbols();
        var create = symbols.findOrThrow("SCICreateSegment");
        var open = symbols.findOrThrow("SCIOpen");
        var text = symbols.findOrThrow("SCIGetErrorString");
        var place = Arena.global().allocate(JAVA_LONG).address();
        var code = Arena.global().allocate(JAVA_INT);
        var errors = 0;

        for (var i = 0; i < CALLS; i++) {
            if (i >= WARM_UP_CALLS) { // The first calls link the functions, which needs memory.
                fill();
            }
            try {
                CREATE.invokeExact(create, descriptor, place, i, 4096L, 0L, 0L, 0, code.address());
                errors += code.get(JAVA_INT, 0) == 0 ? 0 : 1;
            } catch (OutOfMemoryError e) {
                // This method ran out of memory, not the function.
            }
            try {
                OPEN.invokeExact(open, place, 0, code.address());
                errors += code.get(JAVA_INT, 0) == 0 ? 0 : 1;
                errors += (long) TEXT.invokeExact(text, -i) == 0 ? 1 : 0;
            } catch (OutOfMemoryError e) {
                // This method ran out of memory, not the functions.
            }
        }
        filler = null;

        self.offer(descriptor, 1_000, 4096);
        self.mapRemote(self.connect(descriptor, self.node(), 1_000), 4096);
        self.close();
        IO.println("errors: " + errors);
    }

    private static void fill() {
        for (var length = 1 << 20; length > 0; length /= 32) {
            try {
                while (true) {
                    var more = new Object[length];
                    more[0] = filler;
                    filler = more;
                }
            } catch (OutOfMemoryError e) {
                // Continues with smaller objects.
            }
        }
    }
}
