package org.jrdma.verbs.cm.handle;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A native identifier, which is destroyed once.
 *
 * <p>Closing destroys it on the calling thread unless that would block: if another thread is in a
 * native call that may wait for a peer, that thread destroys the identifier after the call; on
 * iWARP, where the kernel waits for the peer's answer to a disconnect, a thread of its own does.
 */
public final class NativeIdentifier {

    private static final Logger LOG = LoggerFactory.getLogger(NativeIdentifier.class);

    /** The calls that can block, or that require that none of them is in progress. */
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

    /** Whether the event that answers the call has arrived, so that the call is about to return. */
    private boolean answered;

    private boolean destroyMayBlock;
    private boolean closed;
    private boolean handedOver;

    /** Takes ownership of an identifier. */
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
     * Returns a second owner of the same identifier, whose events will arrive at another channel.
     * One of the two owners must then be given up with {@link #handOver}.
     */
    public synchronized NativeIdentifier successor(
            ConnectionLibrary itsLibrary, NativeEventChannel other) {
        var made = new NativeIdentifier(itsLibrary, other, address, groups);
        made.destroyMayBlock = destroyMayBlock;
        return made;
    }

    /**
     * Starts a call that may block, or that must not overlap with such a call.
     *
     * @param destroyMayBlockThen whether destroying the identifier may wait for the peer from now
     *     on
     * @return false if the identifier is closed, or another thread is in such a call
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
     * A program that has seen the answering event may take the next step before the call returns.
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

    /** Notes that the event that answers a call has arrived. */
    public synchronized void answered(Call call) {
        answered |= inProgress == call;
    }

    /** Ends the call in progress, and destroys the identifier if it was closed meanwhile. */
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

    /** Closes without waiting for a peer. */
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

    /** Gives up ownership: this object's close no longer destroys the identifier. */
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
                            Attempt.to(
                                    "rdma_destroy_id",
                                    () -> "for %x".formatted(address.address())));
        }
    }
}
