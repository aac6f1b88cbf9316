package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.LibcDowncalls;

/**
 * Makes the system calls {@code sendto} and {@code sendmsg} of a thread fail, by a seccomp filter.
 * The filter applies only to the thread, for the rest of its life.
 */
final class FailingSends {

    private static final int SET_SECCOMP = 22;
    private static final long FILTER_MODE = 2;
    private static final int SET_NO_NEW_PRIVILEGES = 38;

    private static final short LOAD = 0x20;
    private static final short JUMP_IF_EQUAL = 0x15;
    private static final short RETURN = 0x06;
    private static final int FAIL = 0x50000;
    private static final int ALLOW = 0x7fff0000;

    private static final MethodHandle PRCTL =
            Downcalls.variadicCapturingErrno(
                    FunctionDescriptor.of(
                            JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                    1);

    private FailingSends() {}

    /** Makes all sends of the current thread fail with an error number from now on. */
    static void failWith(int errno) {
        var isIntel = System.getProperty("os.arch").equals("amd64");
        try (var arena = Arena.ofConfined()) {
            var filter = arena.allocate(5 * JAVA_LONG.byteSize(), JAVA_LONG.byteAlignment());
            set(filter, 0, LOAD, 0, 0, 0); // the number of the system call
            set(filter, 1, JUMP_IF_EQUAL, 1, 0, isIntel ? 44 : 206); // sendto
            set(filter, 2, JUMP_IF_EQUAL, 0, 1, isIntel ? 46 : 211); // sendmsg
            set(filter, 3, RETURN, 0, 0, FAIL | errno);
            set(filter, 4, RETURN, 0, 0, ALLOW);
            var program = arena.allocate(2 * ADDRESS.byteSize(), ADDRESS.byteAlignment());
            program.set(JAVA_SHORT, 0, (short) 5);
            program.set(ADDRESS, ADDRESS.byteSize(), filter);
            assumeTrue(
                    prctl(SET_NO_NEW_PRIVILEGES, 1, 0) == 0
                            && prctl(SET_SECCOMP, FILTER_MODE, program.address()) == 0,
                    "The kernel does not allow a seccomp filter.");
        }
    }

    private static void set(
            MemorySegment filter, int index, short code, int ifTrue, int ifFalse, int operand) {
        var offset = index * JAVA_LONG.byteSize();
        filter.set(JAVA_SHORT, offset, code);
        filter.set(JAVA_SHORT, offset + 2, (short) (ifTrue | ifFalse << 8));
        filter.set(JAVA_INT, offset + 4, operand);
    }

    private static int prctl(int option, long first, long second) {
        var function = Linker.nativeLinker().defaultLookup().findOrThrow("prctl");
        return LibcDowncalls.call(() ->
                (int)
                        PRCTL.invokeExact(
                                function, CapturedErrno.segment(), option, first, second, 0L, 0L));
    }
}
