package org.jrdma.soft.roce.network;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;

/** A network interface of this machine that has the IP address of a port. */
record LocalInterface(String name, int index, int mtu, boolean isLoopback) {

    /**
     * The maximum number of bytes in an IP packet in addition to the payload: the headers of IPv6
     * (40), UDP (8), the base transport (12), a WRITE (16) and immediate data (4), and the ICRC
     * (4).
     */
    private static final int HEADERS = 40 + 8 + 12 + 16 + 4 + 4;

    private static final int MIN_PATH_MTU = 256;
    private static final int MAX_PATH_MTU = 4096;

    /**
     * Returns the interface to which an address is assigned.
     *
     * @throws FabricException if no interface of this network namespace has the address
     */
    static LocalInterface of(RoceGid address) throws FabricException {
        try {
            var found = find(address.inet());
            if (found == null) {
                throw new FabricException(
                        "No network interface of this network namespace has the address "
                                + address
                                + ".");
            }
            return new LocalInterface(
                    found.getName(), found.getIndex(), found.getMTU(), found.isLoopback());
        } catch (SocketException e) {
            throw new FabricException(
                    "Cannot query the network interface of %s: %s"
                            .formatted(address, e.getMessage()),
                    0,
                    e);
        }
    }

    private static @Nullable NetworkInterface find(InetAddress address) throws SocketException {
        if (!address.isLoopbackAddress()) {
            return NetworkInterface.getByInetAddress(address);
        }
        // Every address in 127.0.0.0/8 is local, but the JDK lists only one of them at the loopback
        // interface.
        return NetworkInterface.networkInterfaces()
                .filter(LocalInterface::isLoopback)
                .findFirst()
                .orElse(null);
    }

    private static boolean isLoopback(NetworkInterface candidate) {
        try {
            return candidate.isLoopback();
        } catch (SocketException e) {
            return false; // The interface was removed in the meantime.
        }
    }

    /**
     * Returns the largest path MTU whose packets fit the MTU of the interface: 256, 512, 1024, 2048
     * or 4096.
     */
    int pathMtu() {
        var pathMtu = MAX_PATH_MTU;
        while (pathMtu > MIN_PATH_MTU && pathMtu + HEADERS > mtu) {
            pathMtu /= 2;
        }
        return pathMtu;
    }
}
