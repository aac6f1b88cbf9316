package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;

/**
 * The service through which a connection manager sends management datagrams and reads the clock.
 */
public interface ManagementTransport {

    /** Returns the time in nanoseconds since an arbitrary origin. */
    long now();

    /**
     * Sends a message to queue pair 1 at an address. The message may be lost. Implementations must
     * not call back into the connection manager.
     */
    void send(Address remote, MemorySegment message);
}
