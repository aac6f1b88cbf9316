package org.jrdma.soft.roce.network;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import org.jrdma.ffi.linkage.Downcalls;

/**
 * The system calls for sockets. Each method returns -1 on failure. Except for {@link #receive}, a
 * method that fails also stores the errno in this object; see {@link #errno()}. An object is
 * therefore confined to one thread at a time.
 *
 * <p>For a native call that captures errno, the JDK allocates a segment, and the compiler does not
 * always eliminate the allocation. Therefore, the calls for packets do not capture errno unless
 * they fail.
 *
 * <p>Constants and layouts are those of 64-bit Linux, which are identical on x86-64 and aarch64.
 */
final class SystemCalls {

    private static final MemorySegment SOCKET = function("socket");
    private static final MemorySegment BIND = function("bind");
    private static final MemorySegment CONNECT = function("connect");
    private static final MemorySegment GETSOCKNAME = function("getsockname");
    private static final MemorySegment SETSOCKOPT = function("setsockopt");
    private static final MemorySegment RECVMMSG = function("recvmmsg");
    private static final MemorySegment SENDMMSG = function("sendmmsg");
    private static final MemorySegment PPOLL = function("ppoll");
    private static final MemorySegment CLOSE = function("close");

    private static final MethodHandle OF_INT =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle OF_THREE_INTS =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle OF_ADDRESS =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle OF_ADDRESS_AND_LENGTH =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle SET_OPTION =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(
                            JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle RECEIVE =
            Downcalls.plain(
                    FunctionDescriptor.of(
                            JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS));
    private static final FunctionDescriptor SENDING =
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle SEND = Downcalls.plain(SENDING);
    private static final MethodHandle SEND_CAPTURING_ERRNO = Downcalls.capturingErrno(SENDING);
    private static final MethodHandle WAIT =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));

    private static final VarHandle ERRNO =
            Linker.Option.captureStateLayout()
                    .varHandle(MemoryLayout.PathElement.groupElement("errno"));

    /**
     * The memory for errno. It is a field because access to thread-local memory would cost a lookup
     * in each call.
     */
    private final MemorySegment captured =
            Arena.ofAuto().allocate(Linker.Option.captureStateLayout());

    /** Returns the error code of the last call that failed. */
    int errno() {
        return (int) ERRNO.get(captured, 0L);
    }

    int socket(int family, int type, int protocol) {
        try {
            return (int) OF_THREE_INTS.invokeExact(SOCKET, captured, family, type, protocol);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    int bind(int descriptor, MemorySegment address) {
        try {
            return (int)
                    OF_ADDRESS.invokeExact(
                            BIND, captured, descriptor, address, (int) address.byteSize());
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    int connect(int descriptor, MemorySegment address) {
        try {
            return (int)
                    OF_ADDRESS.invokeExact(
                            CONNECT, captured, descriptor, address, (int) address.byteSize());
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /**
     * Stores the local address of a socket in {@code target} ({@code getsockname}). {@code length}
     * contains the size of {@code target}, and is replaced by the length of the address.
     */
    int name(int descriptor, MemorySegment target, MemorySegment length) {
        try {
            return (int)
                    OF_ADDRESS_AND_LENGTH.invokeExact(
                            GETSOCKNAME, captured, descriptor, target, length);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    int setOption(int descriptor, int level, int option, MemorySegment value) {
        try {
            return (int)
                    SET_OPTION.invokeExact(
                            SETSOCKOPT,
                            captured,
                            descriptor,
                            level,
                            option,
                            value,
                            (int) value.byteSize());
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /**
     * Receives up to {@code count} datagrams ({@code recvmmsg}). Returns their number, or -1 on
     * failure without storing an error code. The descriptor must be nonblocking.
     */
    int receive(int descriptor, MemorySegment messages, int count) {
        try {
            return (int)
                    RECEIVE.invokeExact(
                            RECVMMSG, descriptor, messages, count, 0, MemorySegment.NULL);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /**
     * Sends up to {@code count} datagrams ({@code sendmmsg}), stopping at the first failure.
     * Returns the number of datagrams sent, or -1 if the first failed.
     */
    int send(int descriptor, MemorySegment messages, int count) {
        try {
            var sent = (int) SEND.invokeExact(SENDMMSG, descriptor, messages, count, 0);
            return sent > 0 // on failure, the call is repeated to obtain errno
                    ? sent
                    : (int)
                            SEND_CAPTURING_ERRNO.invokeExact(
                                    SENDMMSG, captured, descriptor, messages, count, 0);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /**
     * Waits until a descriptor is ready ({@code ppoll}). A {@code timeout} of NULL means no time
     * limit.
     */
    int poll(MemorySegment descriptors, long count, MemorySegment timeout) {
        try {
            return (int)
                    WAIT.invokeExact(
                            PPOLL, captured, descriptors, count, timeout, MemorySegment.NULL);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    int close(int descriptor) {
        try {
            return (int) OF_INT.invokeExact(CLOSE, captured, descriptor);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private static MemorySegment function(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }
}
