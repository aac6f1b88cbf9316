package org.jrdma.verbs.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.EventFunctions;
import org.jrdma.verbs.model.VerbsException;

/**
 * The native channel: destroyed when neither it nor any identifier of it is in use. An identifier
 * can outlast its close, while a call of it cannot be ended.
 */
final class NativeChannel {

    private final ConnectionLibrary library;
    private final MemorySegment address;
    private int users = 1;

    NativeChannel(ConnectionLibrary library, Attempt attempt) throws VerbsException {
        this.library = library;
        this.address = library.events().createChannel(attempt);
    }

    MemorySegment address() {
        return address;
    }

    int descriptor() {
        return EventFunctions.descriptor(address);
    }

    synchronized void retain() {
        users++;
    }

    synchronized void release() {
        if (--users == 0) {
            library.events().destroyChannel(address);
        }
    }
}
