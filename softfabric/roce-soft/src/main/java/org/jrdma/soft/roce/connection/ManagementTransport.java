package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;

/** The transport of management datagrams, and the clock. */
public interface ManagementTransport {

    /** Returns the time since an arbitrary origin, in nanoseconds. */
    long now();

    /** Sends a message to queue pair 1 of an address. The message may be lost. Never calls back. */
    void send(Address remote, MemorySegment message);
}
