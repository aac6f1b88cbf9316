package org.jrdma.sockets.internal;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What addresses mean to this process: containers of one machine have each their own, and all a
 * loopback.
 */
public final class NetworkNamespace {

    private static final long ID = find();

    private NetworkNamespace() {}

    /** Tells this one from the others of its kernel; 0 where the system does not say. */
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

    /** Whether an address is one of this machine's, as far as this process sees it. */
    public static boolean has(InetAddress address) {
        try {
            return address.isLoopbackAddress()
                    || NetworkInterface.getByInetAddress(address) != null;
        } catch (IOException _) {
            return false;
        }
    }
}
