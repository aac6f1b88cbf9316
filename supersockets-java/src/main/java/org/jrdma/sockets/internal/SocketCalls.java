package org.jrdma.sockets.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.unchecked;
import static org.jrdma.sockets.internal.ErrnoToNegativeResult.call;
import static org.jrdma.sockets.internal.ErrnoToNegativeResult.result;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.abi.rdma.pollfd;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Downcalls;

/**
 * The system calls of sockets. Each method returns the result of the C function, or the negative
 * errno. Only {@link #poll} and {@link #receiveBlocking} wait, and {@link #close} if the option
 * SO_LINGER is set.
 */
public final class SocketCalls {

    public static final int AF_UNIX = 1;
    public static final int AF_INET = 2;
    public static final int AF_INET6 = 10;
    public static final int AF_SMC = 43;

    public static final int SOCK_STREAM = 1;
    public static final int SOCK_DGRAM = 2;

    public static final int SHUT_RD = 0;
    public static final int SHUT_WR = 1;

    public static final int MSG_OOB = 1;

    public static final int POLLIN = 1;
    public static final int POLLOUT = 4;

    public static final int AGAIN = -Errno.EAGAIN;

    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final long FIONREAD = 0x541b;
    private static final long FIONBIO = 0x5421;

    private static final MethodHandle INT_1 = linked(JAVA_INT, JAVA_INT);
    private static final MethodHandle INT_2 = linked(JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle INT_3 = linked(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle NAME = linked(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle NAME_AND_LENGTH =
            linked(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle ACCEPT =
            linked(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
    private static final MethodHandle SET_OPTION =
            linked(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle GET_OPTION =
            linked(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle TRANSFER = linked(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private static final MethodHandle TRANSFER_FLAGS =
            linked(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle SEND_TO =
            linked(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle RECEIVE_FROM =
            linked(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle PIPE = linked(JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle POLL = linked(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle CONTROL =
            Downcalls.variadicCapturingErrno(of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS), 2);
    private static final MethodHandle TEXT_OF = Downcalls.plain(of(ADDRESS, JAVA_INT));

    private static final MemorySegment SOCKET_ADDRESS = symbol("socket");
    private static final MemorySegment BIND_ADDRESS = symbol("bind");
    private static final MemorySegment LISTEN_ADDRESS = symbol("listen");
    private static final MemorySegment CONNECT_ADDRESS = symbol("connect");
    private static final MemorySegment ACCEPT_ADDRESS = symbol("accept4");
    private static final MemorySegment SHUTDOWN_ADDRESS = symbol("shutdown");
    private static final MemorySegment CLOSE_ADDRESS = symbol("close");
    private static final MemorySegment LOCAL_NAME_ADDRESS = symbol("getsockname");
    private static final MemorySegment SET_OPTION_ADDRESS = symbol("setsockopt");
    private static final MemorySegment GET_OPTION_ADDRESS = symbol("getsockopt");
    private static final MemorySegment RECEIVE_ADDRESS = symbol("recv");
    private static final MemorySegment SEND_ADDRESS = symbol("send");
    private static final MemorySegment RECEIVE_FROM_ADDRESS = symbol("recvfrom");
    private static final MemorySegment SEND_TO_ADDRESS = symbol("sendto");
    private static final MemorySegment READ_ADDRESS = symbol("read");
    private static final MemorySegment WRITE_ADDRESS = symbol("write");
    private static final MemorySegment PIPE_ADDRESS = symbol("pipe2");
    private static final MemorySegment POLL_ADDRESS = symbol("poll");
    private static final MemorySegment REPLACE_ADDRESS = symbol("dup3");
    private static final MemorySegment CONTROL_ADDRESS = symbol("ioctl");
    private static final MemorySegment TEXT_OF_ADDRESS = symbol("strerror");

    private SocketCalls() {}

    /** Opens a non-blocking socket. Child processes do not inherit the descriptor. */
    public static int socket(int domain, int type, int protocol) {
        return call(() ->
                (int)
                        INT_3.invokeExact(
                                SOCKET_ADDRESS,
                                segment(),
                                domain,
                                type | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                protocol));
    }

    public static int bind(int descriptor, MemorySegment name, int length) {
        return call(
                () -> (int) NAME.invokeExact(BIND_ADDRESS, segment(), descriptor, name, length));
    }

    public static int listen(int descriptor, int backlog) {
        return call(() -> (int) INT_2.invokeExact(LISTEN_ADDRESS, segment(), descriptor, backlog));
    }

    public static int connect(int descriptor, MemorySegment name, int length) {
        return call(
                () -> (int) NAME.invokeExact(CONNECT_ADDRESS, segment(), descriptor, name, length));
    }

    /**
     * Accepts a connection. Its descriptor is non-blocking, and child processes do not inherit it.
     */
    public static int accept(int descriptor, MemorySegment name, MemorySegment length) {
        return call(() ->
                (int)
                        ACCEPT.invokeExact(
                                ACCEPT_ADDRESS,
                                segment(),
                                descriptor,
                                name,
                                length,
                                SOCK_NONBLOCK | SOCK_CLOEXEC));
    }

    public static int shutdown(int descriptor, int how) {
        return call(() -> (int) INT_2.invokeExact(SHUTDOWN_ADDRESS, segment(), descriptor, how));
    }

    public static int close(int descriptor) {
        return call(() -> (int) INT_1.invokeExact(CLOSE_ADDRESS, segment(), descriptor));
    }

    /** Returns the address that a socket is bound to. */
    public static int localName(int descriptor, MemorySegment name, MemorySegment length) {
        return call(() ->
                (int)
                        NAME_AND_LENGTH.invokeExact(
                                LOCAL_NAME_ADDRESS, segment(), descriptor, name, length));
    }

    public static int setOption(int descriptor, int level, int option, MemorySegment value) {
        return call(() ->
                (int)
                        SET_OPTION.invokeExact(
                                SET_OPTION_ADDRESS,
                                segment(),
                                descriptor,
                                level,
                                option,
                                value,
                                (int) value.byteSize()));
    }

    public static int getOption(
            int descriptor, int level, int option, MemorySegment value, MemorySegment length) {
        return call(() ->
                (int)
                        GET_OPTION.invokeExact(
                                GET_OPTION_ADDRESS,
                                segment(),
                                descriptor,
                                level,
                                option,
                                value,
                                length));
    }

    /** Receives bytes without waiting; returns 0 at the end of the stream. */
    public static int receive(int descriptor, MemorySegment target, long bytes) {
        return transfer(RECEIVE_ADDRESS, descriptor, target, bytes, MSG_DONTWAIT);
    }

    /**
     * Receives bytes, and waits for them if {@link #setBlocking} was called; returns 0 at the end
     * of the stream.
     */
    static int receiveBlocking(int descriptor, MemorySegment target, long bytes) {
        return transfer(RECEIVE_ADDRESS, descriptor, target, bytes, 0);
    }

    /** Sends bytes without waiting. */
    public static int send(int descriptor, MemorySegment source, long bytes, int flags) {
        return transfer(
                SEND_ADDRESS, descriptor, source, bytes, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    /** Lets {@link #receiveBlocking} wait. No other method of this class waits afterwards. */
    static int setBlocking(int descriptor) {
        try (var scratch = Scratch.take()) {
            var nonBlocking = scratch.valueLength(0);
            return call(() ->
                    (int)
                            CONTROL.invokeExact(
                                    CONTROL_ADDRESS, segment(), descriptor, FIONBIO, nonBlocking));
        }
    }

    private static int transfer(
            MemorySegment function, int descriptor, MemorySegment memory, long bytes, int flags) {
        try {
            return result(
                    (long)
                            TRANSFER_FLAGS.invokeExact(
                                    function, segment(), descriptor, memory, bytes, flags));
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /**
     * Receives a datagram and the address of its sender. Bytes of the datagram that exceed {@code
     * bytes} are lost.
     */
    public static int receiveFrom(
            int descriptor, MemorySegment target, long bytes, SocketAddressBuffer name) {
        try {
            return result(
                    (long)
                            RECEIVE_FROM.invokeExact(
                                    RECEIVE_FROM_ADDRESS,
                                    segment(),
                                    descriptor,
                                    target,
                                    bytes,
                                    0,
                                    name.memory(),
                                    name.capacity()));
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    public static int sendTo(
            int descriptor, MemorySegment source, long bytes, MemorySegment name, int length) {
        try {
            return result(
                    (long)
                            SEND_TO.invokeExact(
                                    SEND_TO_ADDRESS,
                                    segment(),
                                    descriptor,
                                    source,
                                    bytes,
                                    MSG_NOSIGNAL,
                                    name,
                                    length));
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Reads from a descriptor that is not a socket. */
    public static int read(int descriptor, MemorySegment target, long bytes) {
        return transfer(READ_ADDRESS, descriptor, target, bytes);
    }

    /** Writes to a descriptor that is not a socket. */
    public static int write(int descriptor, MemorySegment source, long bytes) {
        return transfer(WRITE_ADDRESS, descriptor, source, bytes);
    }

    private static int transfer(
            MemorySegment function, int descriptor, MemorySegment memory, long bytes) {
        try {
            return result(
                    (long) TRANSFER.invokeExact(function, segment(), descriptor, memory, bytes));
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /**
     * Opens a pipe. Stores two descriptors in {@code ends}: the first to read from, the second to
     * write to.
     */
    public static int pipe(MemorySegment ends) {
        return call(() ->
                (int)
                        PIPE.invokeExact(
                                PIPE_ADDRESS, segment(), ends, SOCK_NONBLOCK | SOCK_CLOEXEC));
    }

    /**
     * Waits until one of the descriptors has an event.
     *
     * @param milliseconds the timeout; -1 waits without a timeout
     */
    public static int poll(MemorySegment descriptors, int milliseconds) {
        try {
            return result(
                    (int)
                            POLL.invokeExact(
                                    POLL_ADDRESS,
                                    segment(),
                                    descriptors,
                                    descriptors.byteSize() / pollfd.sizeof(),
                                    milliseconds));
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Returns the number of bytes that can be read without waiting. */
    public static int available(int descriptor) {
        try (var scratch = Scratch.take()) {
            var count = scratch.value(Integer.BYTES);
            var result =
                    call(() ->
                            (int)
                                    CONTROL.invokeExact(
                                            CONTROL_ADDRESS,
                                            segment(),
                                            descriptor,
                                            FIONREAD,
                                            count));
            return result < 0 ? result : count.get(JAVA_INT, 0);
        }
    }

    /** Returns true if a descriptor is ready for one of the events. Does not wait. */
    public static boolean isReady(int descriptor, int events) {
        try (var scratch = Scratch.take()) {
            var one = scratch.value((int) pollfd.sizeof());
            pollfd.fd(one, descriptor);
            pollfd.events(one, (short) events);
            return poll(one, 0) > 0;
        }
    }

    /**
     * Makes {@code number} a duplicate of {@code descriptor}. The kernel closes the file that
     * {@code number} referred to before. In C: {@code dup3}.
     */
    public static int replace(int descriptor, int number) {
        return call(() ->
                (int)
                        INT_3.invokeExact(
                                REPLACE_ADDRESS, segment(), descriptor, number, SOCK_CLOEXEC));
    }

    /**
     * Returns the C library's description of an errno. The JDK uses the same text in its messages.
     */
    static String text(int errno) {
        return Downcalls.textAt(
                Downcalls.call(() -> (MemorySegment) TEXT_OF.invokeExact(TEXT_OF_ADDRESS, errno)));
    }

    private static FunctionDescriptor of(MemoryLayout result, MemoryLayout... arguments) {
        return FunctionDescriptor.of(result, arguments);
    }

    private static MethodHandle linked(MemoryLayout result, MemoryLayout... arguments) {
        return Downcalls.capturingErrno(of(result, arguments));
    }

    private static MemorySegment symbol(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }
}
