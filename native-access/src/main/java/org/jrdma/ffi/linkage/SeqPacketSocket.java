package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.LibcDowncalls.call;
import static org.jrdma.ffi.linkage.LibcDowncalls.symbol;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * Non-blocking sockets between processes of a machine, which preserve message boundaries and report
 * the end of the peer. In C: {@code AF_UNIX}, {@code SOCK_SEQPACKET}.
 */
public final class SeqPacketSocket {

    /** The result of {@link #accept} if no connection is pending. */
    public static final int NO_CONNECTION = -1;

    /** The result of {@link #accept} if a pending connection cannot be accepted now. */
    public static final int CANNOT_ACCEPT = -2;

    /** The socket has a message, or the peer has ended. */
    public static final short READABLE = 1;

    /** The socket has space for a message. */
    public static final short WRITABLE = 4;

    private static final int AF_UNIX = 1;
    private static final int SOCK_SEQPACKET_NONBLOCK_CLOEXEC = 5 | 0x800 | 0x80000;
    private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int BACKLOG = 4096; // The kernel may use a lower limit.
    private static final long ADDRESS_BYTES = 110;
    private static final long POLL_BYTES = 8;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;
    private static final int SO_PEERCRED = 17;
    private static final long CREDENTIALS_BYTES = 12;
    private static final long CREDENTIALS_USER = 4;

    private static final MemorySegment SOCKET = symbol("socket");
    private static final MemorySegment BIND = symbol("bind");
    private static final MemorySegment LISTEN = symbol("listen");
    private static final MemorySegment CONNECT = symbol("connect");
    private static final MemorySegment ACCEPT4 = symbol("accept4");
    private static final MemorySegment SEND = symbol("sendmsg");
    private static final MemorySegment RECV = symbol("recvmsg");
    private static final MemorySegment POLL = symbol("poll");

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
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    private static final FunctionDescriptor WAITING =
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle WAIT = Downcalls.capturingErrno(WAITING);
    private static final MethodHandle CHECK = Downcalls.plain(WAITING);

    private SeqPacketSocket() {}

    /**
     * Creates a listening socket at a path. Fails if the path exists. A path that begins with a
     * character of code 0 is a name in the abstract name space, which belongs to the network
     * namespace of the process and has no file.
     */
    public static int listen(String path) throws FabricException {
        var socket = socket();
        try (var arena = Arena.ofConfined()) {
            var address = address(path, arena);
            LinuxCalls.check(
                    "bind to " + printable(path),
                    call(() ->
                            (int)
                                    OF_ADDRESS.invokeExact(
                                            BIND,
                                            segment(),
                                            socket,
                                            address,
                                            (int) address.byteSize())));
            LinuxCalls.check(
                    "listen",
                    call(() -> (int) OF_TWO_INTS.invokeExact(LISTEN, segment(), socket, BACKLOG)));
            return socket;
        } catch (Throwable e) {
            OpenFile.of(socket).close();
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
            LinuxCalls.check(
                    "connect to " + printable(path),
                    call(() ->
                            (int)
                                    OF_ADDRESS.invokeExact(
                                            CONNECT,
                                            segment(),
                                            socket,
                                            address,
                                            (int) address.byteSize())));
            return socket;
        } catch (Throwable e) {
            OpenFile.of(socket).close();
            throw e;
        }
    }

    /**
     * Accepts a connection. Returns {@link #NO_CONNECTION} if none is pending, or {@link
     * #CANNOT_ACCEPT} if a connection remains pending, because the process has no descriptor or no
     * memory for it.
     */
    public static int accept(int socket) {
        int accepted =
                call(() ->
                        (int)
                                ACCEPT.invokeExact(
                                        ACCEPT4,
                                        segment(),
                                        socket,
                                        MemorySegment.NULL,
                                        MemorySegment.NULL,
                                        NONBLOCK_CLOEXEC));
        if (accepted >= 0) {
            return accepted;
        }
        return switch (CapturedErrno.value()) {
            case Errno.EAGAIN, Errno.EINTR, Errno.ECONNABORTED -> NO_CONNECTION;
            default -> CANNOT_ACCEPT;
        };
    }

    /**
     * Returns the effective user id of the process at the other end of a connection, as it was when
     * that process called {@code connect} or {@code listen}; or -1 if it is unknown. In C: {@code
     * SO_PEERCRED}.
     */
    public static int peerUser(int socket) {
        return SocketOption.read(socket, SO_PEERCRED, CREDENTIALS_BYTES, CREDENTIALS_USER);
    }

    /**
     * The memory for a message, and the descriptor that a message can carry. Used by one thread at
     * a time. In C: {@code struct msghdr}.
     */
    public static final class Packet {

        /** The value of {@link #descriptor()} for a message without a descriptor. */
        public static final int NO_DESCRIPTOR = -1;

        private static final long HEADER_BYTES = 56;
        // The buffer has space for one descriptor only.
        private static final long CONTROL_BYTES = 20;
        private static final long VECTOR = 16;
        private static final long VECTOR_COUNT = 24;
        private static final long CONTROL = 32;
        private static final long CONTROL_LENGTH = 40;
        private static final long CONTROL_LEVEL = 8;
        private static final long CONTROL_TYPE = 12;
        private static final long CONTROL_DATA = 16;

        private final MemorySegment memory;
        private final MemorySegment header;
        private final MemorySegment vector;
        private final MemorySegment control;

        public Packet(long capacity, SegmentAllocator allocator) {
            memory = allocator.allocate(capacity, 8);
            header = allocator.allocate(HEADER_BYTES, 8);
            vector = allocator.allocate(2 * ADDRESS.byteSize(), 8);
            control = allocator.allocate(CONTROL_BYTES, 8);
            vector.set(ADDRESS, 0, memory);
            header.set(ADDRESS, VECTOR, vector);
            header.set(JAVA_LONG, VECTOR_COUNT, 1);
        }

        public MemorySegment memory() {
            return memory;
        }

        /**
         * Returns the descriptor that the received message carries, which the caller must close; or
         * {@link #NO_DESCRIPTOR}.
         */
        public int descriptor() {
            return header.get(JAVA_LONG, CONTROL_LENGTH) == CONTROL_BYTES
                            && control.get(JAVA_INT, CONTROL_LEVEL) == SOL_SOCKET
                            && control.get(JAVA_INT, CONTROL_TYPE) == SCM_RIGHTS
                    ? control.get(JAVA_INT, CONTROL_DATA)
                    : NO_DESCRIPTOR;
        }

        private void prepare(long length, boolean hasControl) {
            vector.set(JAVA_LONG, ADDRESS.byteSize(), length);
            header.set(ADDRESS, CONTROL, hasControl ? control : MemorySegment.NULL);
            header.set(JAVA_LONG, CONTROL_LENGTH, hasControl ? CONTROL_BYTES : 0);
        }

        private void carry(int descriptor) {
            control.set(JAVA_LONG, 0, CONTROL_BYTES);
            control.set(JAVA_INT, CONTROL_LEVEL, SOL_SOCKET);
            control.set(JAVA_INT, CONTROL_TYPE, SCM_RIGHTS);
            control.set(JAVA_INT, CONTROL_DATA, descriptor);
        }
    }

    /**
     * Sends a message. Returns 0 or an error number, which is EAGAIN if the socket is full.
     *
     * @param length the length of the message in the memory of the packet
     * @param descriptor the descriptor that the message carries, which remains open; or {@link
     *     Packet#NO_DESCRIPTOR}
     */
    public static int send(int socket, Packet packet, long length, int descriptor) {
        packet.prepare(length, descriptor >= 0);
        packet.carry(descriptor);
        return transfer(SEND, socket, packet, MSG_NOSIGNAL) < 0 ? CapturedErrno.value() : 0;
    }

    /**
     * Receives a message. Returns its length; 0 if the peer has ended; or a negative number if no
     * message has arrived.
     */
    public static long receive(int socket, Packet packet) {
        packet.prepare(packet.memory.byteSize(), true);
        var length = transfer(RECV, socket, packet, MSG_CMSG_CLOEXEC);
        if (length >= 0) {
            return length;
        }
        packet.prepare(0, false); // The caller has handled the previous message.
        return CapturedErrno.value() != Errno.EAGAIN && CapturedErrno.value() != Errno.EINTR
                ? 0
                : length;
    }

    private static long transfer(MemorySegment function, int socket, Packet packet, int flags) {
        return call(() ->
                (long) TRANSFER.invokeExact(function, segment(), socket, packet.header, flags));
    }

    /** The descriptors that one call of {@code poll} waits for. Used by one thread. */
    public static final class Set {

        private final MemorySegment entries;
        private int count;

        public Set(int capacity, SegmentAllocator allocator) {
            entries = allocator.allocate(POLL_BYTES * capacity, POLL_BYTES);
        }

        /**
         * Adds a descriptor to the set and returns its index. A negative descriptor is ignored by
         * {@code poll}.
         */
        public int add(int descriptor, int events) {
            entries.set(JAVA_INT, count * POLL_BYTES, descriptor);
            entries.set(JAVA_SHORT, count * POLL_BYTES + 4, (short) events);
            entries.set(JAVA_SHORT, count * POLL_BYTES + 6, (short) 0);
            return count++;
        }

        /** Removes all descriptors. */
        public void clear() {
            count = 0;
        }

        /** Determines the events of the descriptors. Neither waits nor allocates memory. */
        public void poll() {
            try {
                var _ = (int) CHECK.invokeExact(POLL, entries, (long) count, 0);
            } catch (Throwable e) {
                throw Downcalls.unchecked(e);
            }
        }

        /**
         * Waits for an event of any descriptor.
         *
         * @param milliseconds the timeout; -1 for none
         */
        public void await(int milliseconds) {
            var _ =
                    call(() ->
                            (int)
                                    WAIT.invokeExact(
                                            POLL, segment(), entries, (long) count, milliseconds));
        }

        /**
         * Returns true if the descriptor at an index has an event. An error of the descriptor
         * counts as {@link SeqPacketSocket#READABLE}.
         */
        public boolean isReady(int position, short event) {
            var happened = entries.get(JAVA_SHORT, position * POLL_BYTES + 6);
            return (happened & event) != 0 || (event == READABLE && (happened & ~WRITABLE) != 0);
        }
    }

    private static int socket() throws FabricException {
        return LinuxCalls.check(
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

    /** Returns a path as tools such as {@code ss} print it: with @ for an abstract name. */
    private static String printable(String path) {
        return path.replace('\0', '@');
    }

    private static MemorySegment address(String path, SegmentAllocator allocator) {
        var name = path.getBytes(UTF_8);
        var address = allocator.allocate(ADDRESS_BYTES, 8);
        address.set(JAVA_SHORT, 0, (short) AF_UNIX);
        MemorySegment.copy(name, 0, address, JAVA_BYTE, 2, name.length);
        return address;
    }
}
