package org.jrdma.sockets.internal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;

/** An address family: the representation of its addresses in Java and in C. */
public abstract sealed class AddressFamily permits InternetFamily, UnixFamily {

    AddressFamily() {}

    /**
     * Checks that an address belongs to this family.
     *
     * @return the address
     * @throws java.nio.channels.UnsupportedAddressTypeException if the address belongs to another
     *     family
     * @throws java.nio.channels.UnresolvedAddressException if the host name is unresolved
     */
    public abstract SocketAddress check(SocketAddress address);

    /** Returns the address to connect to for {@code address}, which has been checked. */
    public SocketAddress reach(SocketAddress address) {
        return address;
    }

    /**
     * Writes an address that has been checked.
     *
     * @return its length
     */
    public abstract int write(SocketAddress address, MemorySegment name) throws IOException;

    /** Reads an address that the kernel has written. */
    public abstract SocketAddress read(SocketAddressBuffer name);

    /** Binds a socket to an address that has been checked. */
    public final void bind(int descriptor, SocketAddress address) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            SocketFailure.check(SocketCalls.bind(descriptor, name, write(address, name)));
        }
    }

    public final int connect(int descriptor, SocketAddress address) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            return SocketCalls.connect(descriptor, name, write(address, name));
        }
    }

    public final SocketAddress localAddress(int descriptor) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name();
            SocketFailure.check(SocketCalls.localName(descriptor, name.memory(), name.capacity()));
            return read(name);
        }
    }
}
