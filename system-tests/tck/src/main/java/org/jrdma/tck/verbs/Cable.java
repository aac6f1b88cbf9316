package org.jrdma.tck.verbs;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.jrdma.verbs.Device;

/** Disconnects the cable of a device under test. */
@FunctionalInterface
public interface Cable {

    /** A disconnected cable. Closing it connects the cable again. */
    interface Pulled extends AutoCloseable {
        @Override
        void close() throws IOException;
    }

    /** Takes the link of a device's port down. */
    Pulled pull(Device device) throws Exception;

    /** The network interface of a kernel device. Needs privileges. */
    static Pulled networkInterface(Device device) throws Exception {
        PrivilegedCommands.need();
        var netDevice = device.gids(1).getFirst().netDevice();
        PrivilegedCommands.run("ip", "link", "set", netDevice, "down");
        return () -> {
            try {
                PrivilegedCommands.run("ip", "link", "set", netDevice, "up");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException(netDevice + " may still be down");
            }
        };
    }
}
