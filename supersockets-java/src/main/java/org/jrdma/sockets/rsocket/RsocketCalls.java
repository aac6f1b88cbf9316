package org.jrdma.sockets.rsocket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.unchecked;
import static org.jrdma.sockets.internal.ErrnoToNegativeResult.call;
import static org.jrdma.sockets.internal.ErrnoToNegativeResult.result;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jrdma.abi.rdma.pollfd;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.LibraryNameAndInstallation;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;

/**
 * The rsocket functions of librdmacm. Each method returns the result of the C function, or the
 * negative errno. A method does not block unless its comment says so.
 */
final class RsocketCalls {

    static final LibraryNameAndInstallation NAME =
            new LibraryNameAndInstallation(
                    "librdmacm.so.1", "librdmacm1", "librdmacm", "librdmacm1");

    static final int POLLERR = 8;
    static final int POLLHUP = 16;

    private static final int SOL_SOCKET = 1;
    private static final int SO_REUSEADDR = 2;
    private static final int SO_ERROR = 4;
    private static final int SO_SNDBUF = 7;
    private static final int SO_RCVBUF = 8;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final int PROT_WRITE = 2;
    private static final int MSG_PEEK = 2;
    private static final int MSG_DONTWAIT = 0x40;

    private static final MethodHandle SOCKET = linked(rdma_h.rsocket$descriptor());
    private static final MethodHandle NAME_IN = linked(rdma_h.rbind$descriptor());
    private static final MethodHandle INT_2 = linked(rdma_h.rlisten$descriptor());
    private static final MethodHandle NAME_OUT = linked(rdma_h.raccept$descriptor());
    private static final MethodHandle INT_1 = linked(rdma_h.rclose$descriptor());
    private static final MethodHandle TRANSFER = linked(rdma_h.rrecv$descriptor());
    private static final MethodHandle POLL = linked(rdma_h.rpoll$descriptor());
    private static final MethodHandle SET_OPTION = linked(rdma_h.rsetsockopt$descriptor());
    private static final MethodHandle GET_OPTION = linked(rdma_h.rgetsockopt$descriptor());
    private static final MethodHandle MAP = linked(rdma_h.riomap$descriptor());
    private static final MethodHandle UNMAP = linked(rdma_h.riounmap$descriptor());
    private static final MethodHandle WRITE_MAPPED = linked(rdma_h.riowrite$descriptor());
    private static final MethodHandle CONTROL =
            Downcalls.variadicCapturingErrno(
                    rdma_h.rfcntl$descriptor().appendArgumentLayouts(JAVA_INT), 2);

    private final NativeLibrary library;
    private final MemorySegment socket;
    private final MemorySegment bind;
    private final MemorySegment listen;
    private final MemorySegment accept;
    private final MemorySegment connect;
    private final MemorySegment shutdown;
    private final MemorySegment close;
    private final MemorySegment receive;
    private final MemorySegment send;
    private final MemorySegment poll;
    private final MemorySegment localName;
    private final MemorySegment peerName;
    private final MemorySegment setOption;
    private final MemorySegment getOption;
    private final MemorySegment control;
    private final MemorySegment map;
    private final MemorySegment unmap;
    private final MemorySegment writeMapped;

    RsocketCalls(NativeLibrary library) throws LibraryNotFoundException {
        this.library = library;
        socket = library.require("rsocket");
        bind = library.require("rbind");
        listen = library.require("rlisten");
        accept = library.require("raccept");
        connect = library.require("rconnect");
        shutdown = library.require("rshutdown");
        close = library.require("rclose");
        receive = library.require("rrecv");
        send = library.require("rsend");
        poll = library.require("rpoll");
        localName = library.require("rgetsockname");
        peerName = library.require("rgetpeername");
        setOption = library.require("rsetsockopt");
        getOption = library.require("rgetsockopt");
        control = library.require("rfcntl");
        map = library.require("riomap");
        unmap = library.require("riounmap");
        writeMapped = library.require("riowrite");
    }

    /** Returns the file from which the library was opened. */
    @Override
    public String toString() {
        return library.toString();
    }

    /** Opens a stream rsocket for an address family. */
    int socket(InternetFamily family) {
        var domain = family.isIpv6() ? SocketCalls.AF_INET6 : SocketCalls.AF_INET;
        return call(() ->
                (int) SOCKET.invokeExact(socket, segment(), domain, SocketCalls.SOCK_STREAM, 0));
    }

    /**
     * Returns the family of the rsocket for an address. An IPv4 address requires an IPv4 rsocket,
     * because rsockets do not use IPv4-mapped addresses.
     */
    static InternetFamily familyOf(InetAddress address) {
        return address instanceof Inet4Address ? InternetFamily.IPV4 : InternetFamily.IPV6;
    }

    int bind(int number, InetSocketAddress address) {
        return withName(bind, number, address);
    }

    /** Starts to connect a non-blocking rsocket. */
    int connect(int number, InetSocketAddress address) {
        return withName(connect, number, address);
    }

    private static int withName(MemorySegment function, int number, InetSocketAddress address) {
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            var length = familyOf(address.getAddress()).write(address, name);
            return call(() -> (int) NAME_IN.invokeExact(function, segment(), number, name, length));
        }
    }

    int listen(int number, int backlog) {
        return call(() -> (int) INT_2.invokeExact(listen, segment(), number, backlog));
    }

    /**
     * Accepts a connection. Blocks, unless {@link #setNonBlocking} was called. Returns 0 if the
     * listener is closed during the call.
     */
    int accept(int number) {
        return call(() ->
                (int)
                        NAME_OUT.invokeExact(
                                accept, segment(), number, MemorySegment.NULL, MemorySegment.NULL));
    }

    InetSocketAddress localName(int number) {
        return name(localName, number);
    }

    InetSocketAddress peerName(int number) {
        return name(peerName, number);
    }

    private static InetSocketAddress name(MemorySegment function, int number) {
        try (var scratch = Scratch.take()) {
            var name = scratch.name();
            var capacity = name.capacity();
            if (call(
                            () ->
                                    (int)
                                            NAME_OUT.invokeExact(
                                                    function,
                                                    segment(),
                                                    number,
                                                    name.memory(),
                                                    capacity))
                    < 0) {
                throw new IllegalStateException("rsocket %d has no address".formatted(number));
            }
            return InternetFamily.IPV6.read(name);
        }
    }

    /**
     * Shuts down one direction of an rsocket. Blocks until the peer has received the sent bytes.
     */
    int shutdown(int number, int how) {
        return call(() -> (int) INT_2.invokeExact(shutdown, segment(), number, how));
    }

    /**
     * Closes an rsocket. Blocks until the peer has received the sent bytes. The library may use the
     * number for another rsocket afterwards.
     */
    void close(int number) {
        var _ = call(() -> (int) INT_1.invokeExact(close, segment(), number));
    }

    /**
     * Receives bytes; returns 0 at the end of the stream, but also if the connection has failed.
     */
    int receive(int number, MemorySegment target, long bytes) {
        return transfer(receive, number, target, bytes, MSG_DONTWAIT);
    }

    /** Receives bytes without removing them from the receive queue. */
    int peek(int number, MemorySegment target, long bytes) {
        return transfer(receive, number, target, bytes, MSG_DONTWAIT | MSG_PEEK);
    }

    int send(int number, MemorySegment source, long bytes) {
        return transfer(send, number, source, bytes, MSG_DONTWAIT);
    }

    private static int transfer(
            MemorySegment function, int number, MemorySegment memory, long bytes, int flags) {
        try {
            return result(
                    (long) TRANSFER.invokeExact(function, segment(), number, memory, bytes, flags));
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /**
     * Polls rsockets, and descriptors of the kernel. A timeout is not supported, because in
     * rdma-core before version 63 a wait that times out leaves the library's count of waiting
     * threads too high.
     *
     * @param waits true to wait until there is an event, false to return immediately
     */
    int poll(MemorySegment descriptors, boolean waits) {
        try {
            return result(
                    (int)
                            POLL.invokeExact(
                                    poll,
                                    segment(),
                                    descriptors,
                                    descriptors.byteSize() / pollfd.sizeof(),
                                    waits ? -1 : 0));
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /**
     * Returns the events for which an rsocket is ready, among {@code events}, POLLERR and POLLHUP.
     */
    int ready(int number, int events) {
        try (var scratch = PollScratch.take()) {
            var one = scratch.one();
            pollfd.fd(one, number);
            pollfd.events(one, (short) events);
            pollfd.revents(one, (short) 0);
            return poll(one, false) <= 0 ? 0 : pollfd.revents(one);
        }
    }

    /** Makes raccept and rconnect non-blocking for an rsocket. */
    int setNonBlocking(int number) {
        return call(
                () -> (int) CONTROL.invokeExact(control, segment(), number, F_SETFL, O_NONBLOCK));
    }

    /**
     * Sets {@code SO_REUSEADDR}: the rsocket can be bound to the port of another rsocket that does
     * not listen.
     */
    int reuseAddress(int number) {
        return setOption(number, SOL_SOCKET, SO_REUSEADDR, 1);
    }

    /**
     * Sets the sizes of the send and receive buffers of an rsocket before it is connected. The
     * library doubles the sizes.
     */
    void buffers(int number, int bytes) {
        setOption(number, SOL_SOCKET, SO_RCVBUF, bytes);
        setOption(number, SOL_SOCKET, SO_SNDBUF, bytes);
    }

    /**
     * Sets the number of memory regions that the peer may expose. Must be called before the rsocket
     * is connected.
     */
    int exposedRegions(int number, int count) {
        return setOption(number, rdma_h.SOL_RDMA(), rdma_h.RDMA_IOMAPSIZE(), count);
    }

    private int setOption(int number, int level, int option, int value) {
        try (var scratch = Scratch.take()) {
            var memory = scratch.value(Integer.BYTES);
            memory.set(JAVA_INT, 0, value);
            return result(
                    (int)
                            SET_OPTION.invokeExact(
                                    setOption,
                                    segment(),
                                    number,
                                    level,
                                    option,
                                    memory,
                                    Integer.BYTES));
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Returns the errno with which an attempt to connect has failed; 0 if it is unknown. */
    int error(int number) {
        try (var scratch = Scratch.take()) {
            var memory = scratch.value(Integer.BYTES);
            var length = scratch.valueLength(Integer.BYTES);
            var result =
                    call(() ->
                            (int)
                                    GET_OPTION.invokeExact(
                                            getOption,
                                            segment(),
                                            number,
                                            SOL_SOCKET,
                                            SO_ERROR,
                                            memory,
                                            length));
            return result < 0 ? 0 : memory.get(JAVA_INT, 0);
        }
    }

    /**
     * Exposes memory to writes by the peer ({@code riomap}). The description of the memory is sent
     * to the peer together with the next bytes.
     *
     * @param offset the offset by which the peer addresses the memory
     */
    int expose(int number, MemorySegment memory, long offset) {
        return call(() ->
                (long)
                        MAP.invokeExact(
                                map,
                                segment(),
                                number,
                                memory,
                                memory.byteSize(),
                                PROT_WRITE,
                                0,
                                offset));
    }

    /**
     * Ends the exposure of memory ({@code riounmap}). Must be called before {@link #close(int)},
     * which otherwise blocks forever.
     */
    int withdraw(int number, MemorySegment memory) {
        return call(
                () -> (int) UNMAP.invokeExact(unmap, segment(), number, memory, memory.byteSize()));
    }

    /**
     * Writes to memory that the peer exposes ({@code riowrite}). The write arrives after all bytes
     * that were sent before. Returns 0 if the peer does not expose memory at the offset.
     */
    int writeExposed(int number, MemorySegment source, long bytes, long offset) {
        return call(() ->
                (long)
                        WRITE_MAPPED.invokeExact(
                                writeMapped,
                                segment(),
                                number,
                                source,
                                bytes,
                                offset,
                                MSG_DONTWAIT));
    }

    private static MethodHandle linked(FunctionDescriptor descriptor) {
        return Downcalls.capturingErrno(descriptor);
    }
}
