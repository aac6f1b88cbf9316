package org.jrdma.sockets.internal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;

/** How addresses of one kind look in Java and in C. */
public abstract sealed class AddressFamily permits InternetFamily, UnixFamily {

    AddressFamily() {}

    /**
     * The address itself, if it is one of this family.
     *
     * @throws java.nio.channels.UnsupportedAddressTypeException if not
     * @throws java.nio.channels.UnresolvedAddressException if it is a name that leads nowhere
     */
    public abstract SocketAddress check(SocketAddress address);

    /** What to connect to for {@code address}, which has been checked. */
    public SocketAddress reach(SocketAddress address) {
        return address;
    }

    /** Writes an address that has been checked, and answers its length. */
    public abstract int write(SocketAddress address, MemorySegment name) throws IOException;

    /** Reads what the kernel has written. */
    public abstract SocketAddress read(SocketName name);

    /** Binds a socket to an address that has been checked. */
    public final void bind(int descriptor, SocketAddress address) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            SocketFailure.check(SocketCalls.bind(descriptor, name, write(address, name)));
        }
    }

    /** Starts to connect a socket; returns 0 or the negative errno. */
    public final int connect(int descriptor, SocketAddress address) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            return SocketCalls.connect(descriptor, name, write(address, name));
        }
    }

    /** The address to which a socket is bound. */
    public final SocketAddress localAddress(int descriptor) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name();
            SocketFailure.check(SocketCalls.localName(descriptor, name.memory(), name.room()));
            return read(name);
        }
    }
}
