package org.jrdma.soft.sisci.host;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.LibcCalls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.Downcalls;

/**
 * Non-blocking sockets between processes of a machine, which preserve message boundaries and report
 * the end of the peer. In C: {@code AF_UNIX}, {@code SOCK_SEQPACKET}.
 */
public final class PacketSocket {

    /** The socket has a message, or the peer has ended. */
    public static final short READABLE = 1;

    /** The socket has space for a message. */
    public static final short WRITABLE = 4;

    private static final int AF_UNIX = 1;
    private static final int SOCK_SEQPACKET_NONBLOCK_CLOEXEC = 5 | 0x800 | 0x80000;
    private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int BACKLOG = 4096; // the kernel may use a lower limit
    private static final long ADDRESS_BYTES = 110;
    private static final long POLL_BYTES = 8;

    private static final MemorySegment SOCKET = Host.symbol("socket");
    private static final MemorySegment BIND = Host.symbol("bind");
    private static final MemorySegment LISTEN = Host.symbol("listen");
    private static final MemorySegment CONNECT = Host.symbol("connect");
    private static final MemorySegment ACCEPT4 = Host.symbol("accept4");
    private static final MemorySegment SEND = Host.symbol("send");
    private static final MemorySegment RECV = Host.symbol("recv");
    private static final MemorySegment POLL = Host.symbol("poll");

    private static final MethodHandle OF_TWO_INTS =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle OF_THREE_INTS =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle OF_ADDRESS =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle ACCEPT =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
    private static final MethodHandle TRANSFER =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle WAIT =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));

    private PacketSocket() {}

    /** Creates a listening socket at a path. Fails if the path exists. */
    public static int listen(String path) throws FabricException {
        var socket = socket();
        try (var arena = Arena.ofConfined()) {
            var address = address(path, arena);
            Host.check(
                    "bind to " + path,
                    call(() ->
                            (int)
                                    OF_ADDRESS.invokeExact(
                                            BIND,
                                            segment(),
                                            socket,
                                            address,
                                            (int) address.byteSize())));
            Host.check(
                    "listen",
                    call(() -> (int) OF_TWO_INTS.invokeExact(LISTEN, segment(), socket, BACKLOG)));
            return socket;
        } catch (FabricException e) {
            Host.close(socket);
            throw e;
        }
    }

    /**
     * Connects to the socket at a path without blocking. A {@link FabricException} contains the
     * error number.
     */
    public static int connect(String path) throws FabricException {
        var socket = socket();
        try (var arena = Arena.ofConfined()) {
            var address = address(path, arena);
            Host.check(
                    "connect to " + path,
                    call(() ->
                            (int)
                                    OF_ADDRESS.invokeExact(
                                            CONNECT,
                                            segment(),
                                            socket,
                                            address,
                                            (int) address.byteSize())));
            return socket;
        } catch (FabricException e) {
            Host.close(socket);
            throw e;
        }
    }

    /** Accepts a connection. Returns a negative number if no connection is pending. */
    public static int accept(int socket) {
        return call(() ->
                (int)
                        ACCEPT.invokeExact(
                                ACCEPT4,
                                segment(),
                                socket,
                                MemorySegment.NULL,
                                MemorySegment.NULL,
                                NONBLOCK_CLOEXEC));
    }

    /** Sends a message. Returns 0 or an error number, which is EAGAIN if the socket is full. */
    public static int send(int socket, MemorySegment message) {
        return transfer(SEND, socket, message, MSG_NOSIGNAL) < 0 ? CapturedErrno.value() : 0;
    }

    /**
     * Receives a message. Returns its length, 0 if the peer has ended, or a negative number if no
     * message is available.
     */
    public static long receive(int socket, MemorySegment message) {
        var length = transfer(RECV, socket, message, 0);
        return length < 0
                        && CapturedErrno.value() != Errno.EAGAIN
                        && CapturedErrno.value() != Errno.EINTR
                ? 0
                : length;
    }

    private static long transfer(
            MemorySegment function, int socket, MemorySegment message, int flags) {
        return call(() ->
                (long)
                        TRANSFER.invokeExact(
                                function, segment(), socket, message, message.byteSize(), flags));
    }

    /** A set of descriptors to poll. Used by one thread. */
    public static final class Set {

        private final MemorySegment entries;
        private int count;

        public Set(int capacity, SegmentAllocator allocator) {
            entries = allocator.allocate(POLL_BYTES * capacity, POLL_BYTES);
        }

        /** Adds a descriptor and returns its index. */
        public int add(int descriptor, int events) {
            entries.set(JAVA_INT, count * POLL_BYTES, descriptor);
            entries.set(JAVA_SHORT, count * POLL_BYTES + 4, (short) events);
            entries.set(JAVA_SHORT, count * POLL_BYTES + 6, (short) 0);
            return count++;
        }

        /** Waits for an event of any descriptor, without a timeout. */
        public void await() {
            var _ = call(() -> (int) WAIT.invokeExact(POLL, segment(), entries, (long) count, -1));
        }

        /**
         * Returns true if a descriptor has an event. An error of the descriptor counts as {@link
         * PacketSocket#READABLE}.
         */
        public boolean isReady(int position, short event) {
            var happened = entries.get(JAVA_SHORT, position * POLL_BYTES + 6);
            return (happened & event) != 0 || (event == READABLE && (happened & ~WRITABLE) != 0);
        }
    }

    private static int socket() throws FabricException {
        return Host.check(
                "socket",
                call(() ->
                        (int)
                                OF_THREE_INTS.invokeExact(
                                        SOCKET,
                                        segment(),
                                        AF_UNIX,
                                        SOCK_SEQPACKET_NONBLOCK_CLOEXEC,
                                        0)));
    }

    private static MemorySegment address(String path, SegmentAllocator allocator) {
        var name = path.getBytes(UTF_8);
        var address = allocator.allocate(ADDRESS_BYTES, 8);
        address.set(JAVA_SHORT, 0, (short) AF_UNIX);
        MemorySegment.copy(name, 0, address, JAVA_BYTE, 2, name.length);
        return address;
    }
}
