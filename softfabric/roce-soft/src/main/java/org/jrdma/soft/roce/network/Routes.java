package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.RoceGid;

/** Queries the kernel's routing table. */
public final class Routes {

    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_CLOEXEC = 0x80000;

    private Routes() {}

    /**
     * Returns the source address that the kernel would use for packets to a destination, without
     * sending a packet.
     *
     * @param scope the index of the network interface if {@code destination} is link-local
     * @throws FabricException if there is no route
     */
    public static RoceGid sourceTo(RoceGid destination, int scope) throws FabricException {
        var calls = new SystemCalls();
        var family = destination.isIpv4() ? SocketAddress.IPV4_FAMILY : SocketAddress.IPV6_FAMILY;
        var descriptor = calls.socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (descriptor < 0) {
            throw failure(destination, calls.errno());
        }
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocate(SocketAddress.IPV6_BYTES, Long.BYTES);
            var bytes =
                    SocketAddress.write(name, 0, destination.high(), destination.low(), 0, scope);
            if (calls.connect(descriptor, name.asSlice(0, bytes)) < 0) {
                throw failure(destination, calls.errno());
            }
            var length = arena.allocateFrom(ValueLayout.JAVA_INT, SocketAddress.IPV6_BYTES);
            if (calls.name(descriptor, name, length) < 0) {
                throw failure(destination, calls.errno());
            }
            return new RoceGid(SocketAddress.high(name, 0), SocketAddress.low(name, 0));
        } finally {
            calls.close(descriptor);
        }
    }

    private static FabricException failure(RoceGid destination, int errno) {
        return new FabricException(
                "Cannot find a route to %s: %s".formatted(destination, Errno.describe(errno)),
                errno,
                null);
    }

    /**
     * Returns the index of the network interface to which a link-local address of this machine is
     * assigned, or 0 if the address is not link-local.
     */
    public static int scopeOf(RoceGid own) throws FabricException {
        return own.isLinkLocal() ? LocalInterface.of(own).index() : 0;
    }

    /** Returns true if two addresses of this machine are assigned to the same network interface. */
    public static boolean shareInterface(RoceGid one, RoceGid other) throws FabricException {
        return LocalInterface.of(one).index() == LocalInterface.of(other).index();
    }
}
