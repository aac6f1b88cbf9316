package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;

/**
 * The services that a connection manager requires: a transport for management datagrams, and a
 * clock.
 */
public interface ManagementTransport {

    /** The time since an arbitrary origin, in nanoseconds. */
    long now();

    /**
     * Sends a message to queue pair 1 of an address. The message may be lost. An implementation
     * must not call the connection manager.
     */
    void send(Address remote, MemorySegment message);
}
