package org.jrdma.tck.verbs;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.jrdma.verbs.Device;

/** A way to disconnect and reconnect the network link of a device under test. */
@FunctionalInterface
public interface LinkControl {

    /** A disconnected link. Closing this object connects the link again. */
    interface Pulled extends AutoCloseable {
        @Override
        void close() throws IOException;
    }

    /** Takes the link of the device down until the returned object is closed. */
    Pulled pull(Device device) throws Exception;

    /**
     * Takes the network interface of a kernel device down with {@code ip link set}. Skips the test
     * if the process lacks the privileges.
     */
    static Pulled networkInterface(Device device) throws Exception {
        PrivilegedCommands.need();
        var netDevice = device.gids(1).getFirst().netDevice();
        PrivilegedCommands.run("ip", "link", "set", netDevice, "down");
        return () -> {
            try {
                PrivilegedCommands.run("ip", "link", "set", netDevice, "up");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException(
                        "interrupted while setting " + netDevice + " up; it may still be down");
            }
        };
    }
}
