package org.jrdma.verbs.cm.handle;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.internal.EventChannelFunctions;
import org.jrdma.verbs.model.VerbsException;

/**
 * A native event channel with a reference count. The channel is destroyed when its last user has
 * released it, because an identifier outlives the close of its channel while a native call on the
 * identifier is in progress.
 */
public final class NativeEventChannel {

    private final ConnectionLibrary library;
    private final MemorySegment address;
    private int users = 1;

    /** Creates a channel with one user, the caller. */
    public NativeEventChannel(ConnectionLibrary library, CheckedCall attempt)
            throws VerbsException {
        this.library = library;
        this.address = library.events().createChannel(attempt);
    }

    /** The address of the {@code struct rdma_event_channel}. */
    public MemorySegment address() {
        return address;
    }

    /** The file descriptor, which is readable when events are available. */
    public int descriptor() {
        return EventChannelFunctions.descriptor(address);
    }

    synchronized void retain() {
        users++;
    }

    /** Decrements the reference count, and destroys the channel when it reaches zero. */
    public synchronized void release() {
        if (--users == 0) {
            library.events().destroyChannel(address);
        }
    }
}
