package org.jrdma.sockets.internal;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;

/**
 * The network namespace of this process. Containers of one machine have different namespaces, in
 * which the same address can belong to different hosts.
 */
public final class LocalAddresses {

    private LocalAddresses() {}

    /**
     * Returns true if an address belongs to a network interface of this namespace, or is a loopback
     * address.
     */
    public static boolean has(InetAddress address) {
        try {
            return address.isLoopbackAddress()
                    || NetworkInterface.getByInetAddress(address) != null;
        } catch (IOException _) {
            return false;
        }
    }
}
