package org.jrdma.verbs.cm.handle;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.EventChannelFunctions;
import org.jrdma.verbs.model.VerbsException;

/**
 * A native event channel with a reference count. Its users are the API object and each {@code
 * rdma_cm_id} that reports its events to the channel. The native channel is destroyed when the last
 * user has released it. A count is needed, because an {@code rdma_cm_id} cannot be destroyed while
 * a native call on it is in progress, even if its channel is closed.
 */
public final class NativeEventChannel {

    private final ConnectionLibrary library;
    private final MemorySegment address;
    private int users = 1;

    /** Creates a native event channel. The caller is its first user and must release it. */
    public NativeEventChannel(ConnectionLibrary library, CheckedCall attempt)
            throws VerbsException {
        this.library = library;
        this.address = library.events().createChannel(attempt);
    }

    /** Returns the address of the {@code struct rdma_event_channel}. */
    public MemorySegment address() {
        return address;
    }

    /** Returns the file descriptor, which is readable when events are available. */
    public int descriptor() {
        return EventChannelFunctions.descriptor(address);
    }

    synchronized void retain() {
        users++;
    }

    /**
     * Decrements the reference count, and destroys the native channel if the count becomes zero.
     */
    public synchronized void release() {
        if (--users == 0) {
            library.events().destroyChannel(address);
        }
    }
}
