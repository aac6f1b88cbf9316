package org.jrdma.sockets.internal;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The network namespace of this process. Containers of one machine have different namespaces, in
 * which the same address can belong to different hosts.
 */
public final class NetworkNamespace {

    private static final long ID = find();

    private NetworkNamespace() {}

    /**
     * Returns the number that identifies the namespace within the running kernel; 0 if the number
     * cannot be determined.
     */
    public static long id() {
        return ID;
    }

    private static long find() {
        try {
            return (Long) Files.getAttribute(Path.of("/proc/self/ns/net"), "unix:ino");
        } catch (IOException | UnsupportedOperationException _) {
            return 0;
        }
    }

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
