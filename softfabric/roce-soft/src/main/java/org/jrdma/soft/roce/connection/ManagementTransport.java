package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;

/** What carries messages: an engine, or a test. */
public interface ManagementTransport {

    /** The time since some start, in nanoseconds. */
    long now();

    /** Sends a message to queue pair 1 of an address. It may get lost. Never calls back. */
    void send(Address remote, MemorySegment message);
}
