package org.jrdma.verbs.cm.handle;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A native identifier, which is destroyed exactly once.
 *
 * <p>Closing destroys the identifier on the calling thread unless that would block. If a native
 * call that may wait for a peer is in progress, its thread destroys the identifier after the call.
 * On iWARP, where the kernel waits for the peer to confirm a disconnect, a background thread
 * destroys it.
 */
public final class NativeIdentifier {

    private static final Logger LOG = LoggerFactory.getLogger(NativeIdentifier.class);

    /** The calls that exclude one another because they can block or replace the identifier. */
    public enum Call {
        /** Waits for TCP on iWARP. */
        CONNECT,
        /** Waits for a name service. */
        LOOK_UP,
        /** Moves the identifier to another event channel. */
        MIGRATE
    }

    private final ConnectionLibrary library;
    private final NativeEventChannel channel;
    private final MemorySegment address;
    private final MulticastMemberships groups;
    private @Nullable Call inProgress;

    /**
     * True if the event for the call in progress has arrived, so that the call is about to return.
     */
    private boolean answered;

    private boolean destroyMayBlock;
    private boolean closed;
    private boolean handedOver;

    /** Creates an object that owns the given identifier. */
    public NativeIdentifier(
            ConnectionLibrary library, NativeEventChannel channel, MemorySegment address) {
        this(library, channel, address, new MulticastMemberships(library.multicast()));
    }

    private NativeIdentifier(
            ConnectionLibrary library,
            NativeEventChannel channel,
            MemorySegment address,
            MulticastMemberships groups) {
        this.library = library;
        this.channel = channel;
        this.address = address;
        this.groups = groups;
        channel.retain();
    }

    /** The address of the {@code struct rdma_cm_id}. */
    public MemorySegment address() {
        return address;
    }

    /** The multicast groups of this identifier. */
    public MulticastMemberships groups() {
        return groups;
    }

    /**
     * Returns a second owner of the same identifier for a migration to another event channel. The
     * caller must then end the ownership of one of the two with {@link #handOver}.
     */
    public synchronized NativeIdentifier successor(
            ConnectionLibrary newLibrary, NativeEventChannel newChannel) {
        var successor = new NativeIdentifier(newLibrary, newChannel, address, groups);
        successor.destroyMayBlock = destroyMayBlock;
        return successor;
    }

    /**
     * Starts a call that may block or must not overlap with such a call.
     *
     * @param destroyMayBlockThen true if destroying the identifier may wait for the peer afterwards
     * @return false if the identifier is closed or another such call is in progress
     */
    synchronized boolean begin(Call call, boolean destroyMayBlockThen) {
        awaitReturn();
        if (closed || handedOver || inProgress != null) {
            return false;
        }
        inProgress = call;
        answered = false;
        destroyMayBlock |= destroyMayBlockThen;
        return true;
    }

    /**
     * Waits for the return of a call whose event has arrived, because the program may start the
     * next step as soon as it has received the event.
     */
    private void awaitReturn() {
        var interrupted = false;
        while (inProgress != null && answered) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Records that the event with the outcome of a call has arrived. */
    public synchronized void answered(Call call) {
        answered |= inProgress == call;
    }

    /** Ends the call in progress, and destroys the identifier if it was closed during the call. */
    void end() throws VerbsException {
        synchronized (this) {
            inProgress = null;
            notifyAll();
            if (!closed) {
                return;
            }
        }
        destroy();
    }

    /** Closes the identifier without waiting for a peer. */
    public void close() throws VerbsException {
        boolean blocks;
        synchronized (this) {
            closed = true;
            if (inProgress != null) {
                return;
            }
            blocks = destroyMayBlock && !handedOver;
        }
        if (blocks) {
            Thread.ofPlatform().daemon().name("jrdma-destroy").start(this::destroyInBackground);
        } else {
            destroy();
        }
    }

    private void destroyInBackground() {
        try {
            destroy();
        } catch (VerbsException e) {
            LOG.warn("{}", e.getMessage());
        }
    }

    /** Ends the ownership: closing this object no longer destroys the identifier. */
    public synchronized void handOver() {
        handedOver = true;
    }

    private void destroy() throws VerbsException {
        try {
            if (!handedOver) {
                leaveGroupsAndDestroy();
            }
        } finally {
            channel.release();
        }
    }

    private void leaveGroupsAndDestroy() throws VerbsException {
        try {
            groups.leaveAll(address);
        } finally {
            library.identifiers()
                    .destroy(
                            address,
                            CheckedCall.to(
                                    "rdma_destroy_id",
                                    () -> "for %x".formatted(address.address())));
        }
    }
}
