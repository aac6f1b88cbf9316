package org.jrdma.soft.sisci.host;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.LibcDowncalls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.SocketOption;

/**
 * Sockets by which a process wakes up a thread of another process. A signal has no content. In C:
 * {@code socketpair} with {@code AF_UNIX} and {@code SOCK_STREAM}.
 *
 * <p>No method blocks, whatever the process at the other end does with its socket. An eventfd or a
 * pipe would not ensure this: both ends share one file description, so a process could make the
 * calls of the other process block. Each end of a socket pair has a file description of its own.
 */
public final class SignalSocket {

    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int SO_TYPE = 3;
    private static final int SO_DOMAIN = 39;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;

    /** More than the number of signals that a socket can queue. */
    private static final long MAX_SIGNALS = 4096;

    private static final MemorySegment SOCKETPAIR = SystemCalls.symbol("socketpair");
    private static final MemorySegment SEND = SystemCalls.symbol("send");
    private static final MemorySegment RECV = SystemCalls.symbol("recv");

    private static final MethodHandle CREATE =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle TRANSFER =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));

    private static final MemorySegment SIGNAL = Arena.global().allocate(1);

    /** Receives the signals of all threads, because their bytes are never read. */
    private static final MemorySegment RECEIVED = Arena.global().allocate(MAX_SIGNALS);

    private SignalSocket() {}

    /**
     * Two connected sockets, which the caller must close.
     *
     * @param receiver the descriptor of the socket for {@link #receive}
     * @param sender the descriptor of the socket for {@link #send}
     */
    public record Pair(int receiver, int sender) {}

    public static Pair open() throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var sockets = arena.allocate(JAVA_INT, 2);
            SystemCalls.check(
                    "socketpair",
                    call(() ->
                            (int)
                                    CREATE.invokeExact(
                                            SOCKETPAIR,
                                            segment(),
                                            AF_UNIX,
                                            SOCK_STREAM | SOCK_CLOEXEC,
                                            0,
                                            sockets)));
            return new Pair(sockets.getAtIndex(JAVA_INT, 0), sockets.getAtIndex(JAVA_INT, 1));
        }
    }

    /**
     * Returns true if a descriptor from another process is a socket of the kind that {@link #open}
     * creates. A call with another kind of descriptor could block: the other process can make a TCP
     * socket wait for the memory of its own {@code send}.
     */
    public static boolean isSignalSocket(int descriptor) {
        return SocketOption.read(descriptor, SO_DOMAIN) == AF_UNIX
                && SocketOption.read(descriptor, SO_TYPE) == SOCK_STREAM;
    }

    /**
     * Sends a signal. If the socket is full, the signal is dropped: the receiver has many signals
     * that it has not received yet.
     *
     * @return 0 if the receiver has a signal to receive, or an error number, for which {@link
     *     #isTemporary} is false if the other end is closed or the descriptor is not that of a
     *     socket
     */
    public static int send(int socket) {
        var sent = transfer(SEND, socket, SIGNAL, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
        return sent || CapturedErrno.value() == Errno.EAGAIN ? 0 : CapturedErrno.value();
    }

    /**
     * Receives all pending signals.
     *
     * @return a positive number if there were signals, 0 if the other end is closed, or a negative
     *     number if there was no signal
     */
    public static long receive(int socket) {
        var received = transfer(RECV, socket, RECEIVED, MSG_DONTWAIT);
        return received >= 0 || isTemporary(CapturedErrno.value()) ? received : 0;
    }

    /** Returns true if a call with an error may succeed later, for example if there is memory. */
    public static boolean isTemporary(int errno) {
        return switch (errno) {
            case Errno.EAGAIN, Errno.EINTR, Errno.ENOBUFS, Errno.ENOMEM -> true;
            default -> false;
        };
    }

    private static long transfer(
            MemorySegment function, int socket, MemorySegment memory, int flags) {
        return call(() ->
                (long)
                        TRANSFER.invokeExact(
                                function, segment(), socket, memory, memory.byteSize(), flags));
    }
}
