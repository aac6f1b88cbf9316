package org.jrdma.verbs.cm.handle;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.EventFunctions;
import org.jrdma.verbs.model.VerbsException;

/**
 * A native event channel with a reference count. An identifier can outlast the close of its channel
 * while a native call on the identifier has not returned, so the channel is destroyed when the last
 * of its users has released it.
 */
public final class NativeEventChannel {

    private final ConnectionLibrary library;
    private final MemorySegment address;
    private int users = 1;

    /** Creates a channel with one user, the caller. */
    public NativeEventChannel(ConnectionLibrary library, Attempt attempt) throws VerbsException {
        this.library = library;
        this.address = library.events().createChannel(attempt);
    }

    /** The address of the {@code struct rdma_event_channel}. */
    public MemorySegment address() {
        return address;
    }

    /** The file descriptor that is readable when there are events. */
    public int descriptor() {
        return EventFunctions.descriptor(address);
    }

    synchronized void retain() {
        users++;
    }

    /** Ends one use; destroys the channel after the last. */
    public synchronized void release() {
        if (--users == 0) {
            library.events().destroyChannel(address);
        }
    }
}
