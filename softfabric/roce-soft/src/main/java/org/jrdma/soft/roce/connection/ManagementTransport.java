package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;

/** The transport of management datagrams, and the clock. */
public interface ManagementTransport {

    /** The time since some start, in nanoseconds. */
    long now();

    /** Sends a message to queue pair 1 of an address. It may get lost. Never calls back. */
    void send(Address remote, MemorySegment message);
}
