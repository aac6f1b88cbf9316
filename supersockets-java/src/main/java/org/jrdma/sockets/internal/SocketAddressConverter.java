package org.jrdma.sockets.internal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;

/** Converts socket addresses of one address family between Java and C. */
public abstract sealed class SocketAddressConverter permits InternetFamily, UnixFamily {

    SocketAddressConverter() {}

    /**
     * Checks that an address belongs to this family.
     *
     * @return the address
     * @throws java.nio.channels.UnsupportedAddressTypeException if the address belongs to another
     *     family
     * @throws java.nio.channels.UnresolvedAddressException if the host name is unresolved
     */
    public abstract SocketAddress check(SocketAddress address);

    /**
     * Returns the address to which a socket connects if the program specifies {@code address}.
     *
     * @param address an address that {@link #check} has accepted
     */
    public SocketAddress reach(SocketAddress address) {
        return address;
    }

    /**
     * Writes an address in the format of C.
     *
     * @param address an address that {@link #check} has accepted
     * @param name the memory to write to
     * @return the number of bytes of the address in C
     */
    public abstract int write(SocketAddress address, MemorySegment name) throws IOException;

    /** Converts an address that the kernel has written. */
    public abstract SocketAddress read(SocketAddressBuffer name);

    /** Binds a socket to an address that {@link #check} has accepted. */
    public final void bind(int descriptor, SocketAddress address) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            SocketFailure.check(SocketCalls.bind(descriptor, name, write(address, name)));
        }
    }

    /**
     * Starts to connect a socket to an address that {@link #check} has accepted.
     *
     * @return the result of connect(2), or the negative errno
     */
    public final int connect(int descriptor, SocketAddress address) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            return SocketCalls.connect(descriptor, name, write(address, name));
        }
    }

    /** Returns the address to which a socket is bound. */
    public final SocketAddress localAddress(int descriptor) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name();
            SocketFailure.check(SocketCalls.localName(descriptor, name.memory(), name.capacity()));
            return read(name);
        }
    }
}
