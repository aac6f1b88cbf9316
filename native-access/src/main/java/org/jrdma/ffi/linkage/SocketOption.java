package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.LibcDowncalls.call;
import static org.jrdma.ffi.linkage.LibcDowncalls.symbol;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The options that sockets of all kinds have. In C: {@code SOL_SOCKET}. */
public final class SocketOption {

    private static final int SOL_SOCKET = 1;

    private static final MemorySegment GETSOCKOPT = symbol("getsockopt");
    private static final MethodHandle READ =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(
                            JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));

    private SocketOption() {}

    /** Returns the value of an option that is a number, or -1 if it is unknown. */
    public static int read(int socket, int option) {
        return read(socket, option, JAVA_INT.byteSize(), 0);
    }

    /**
     * Returns a number in the value of an option that is a structure of {@code bytes} bytes, or -1
     * if it is unknown. In C: {@code getsockopt}.
     */
    static int read(int socket, int option, long bytes, long offset) {
        try (var arena = Arena.ofConfined()) {
            var value = arena.allocate(bytes, JAVA_INT.byteAlignment());
            var length = arena.allocateFrom(JAVA_INT, (int) bytes);
            int result =
                    call(() ->
                            (int)
                                    READ.invokeExact(
                                            GETSOCKOPT,
                                            segment(),
                                            socket,
                                            SOL_SOCKET,
                                            option,
                                            value,
                                            length));
            return result < 0 ? -1 : value.get(JAVA_INT, offset);
        }
    }
}
