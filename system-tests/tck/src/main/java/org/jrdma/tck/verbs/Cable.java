package org.jrdma.tck.verbs;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.jrdma.verbs.Device;

/** How to pull the cable of a device under test. */
@FunctionalInterface
public interface Cable {

    /** A cable that is out, until this is closed. */
    interface Pulled extends AutoCloseable {
        @Override
        void close() throws IOException;
    }

    /** Takes the link of a device's port down. */
    Pulled pull(Device device) throws Exception;

    /** That of a device of the kernel: its network interface. Needs privileges. */
    static Pulled networkInterface(Device device) throws Exception {
        Privileges.need();
        var netDevice = device.gids(1).getFirst().netDevice();
        Privileges.run("ip", "link", "set", netDevice, "down");
        return () -> {
            try {
                Privileges.run("ip", "link", "set", netDevice, "up");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException(netDevice + " may still be down");
            }
        };
    }
}
