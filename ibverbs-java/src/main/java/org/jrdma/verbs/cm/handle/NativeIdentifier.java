package org.jrdma.verbs.cm.handle;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An {@code rdma_cm_id}, which is destroyed exactly once.
 *
 * <p>{@link #close} destroys the {@code rdma_cm_id} on the calling thread, except in two cases in
 * which this thread could block. If a native call that may wait for a peer is in progress, the
 * thread of that call destroys the {@code rdma_cm_id} after the call. On iWARP, where the kernel
 * waits for the peer to confirm a disconnect, a background thread destroys the {@code rdma_cm_id}.
 */
public final class NativeIdentifier {

    private static final Logger LOG = LoggerFactory.getLogger(NativeIdentifier.class);

    /**
     * The calls of which only one can be in progress at a time for an {@code rdma_cm_id}, because
     * they can block or move it to another event channel.
     */
    public enum Call {
        /** A call of {@code rdma_connect}. On iWARP, it blocks until TCP has connected. */
        CONNECT,
        /** A call that resolves a name. It may block while it waits for a name service. */
        LOOK_UP,
        /** A call of {@code rdma_migrate_id}. */
        MIGRATE
    }

    private final ConnectionLibrary library;
    private final NativeEventChannel channel;
    private final MemorySegment address;
    private final MulticastMemberships groups;
    private @Nullable Call inProgress;

    /**
     * True if the event that reports the result of the call in progress has arrived. The call will
     * then return soon.
     */
    private boolean answered;

    private boolean destroyMayBlock;
    private boolean closed;
    private boolean handedOver;

    /**
     * Creates the owner of an {@code rdma_cm_id}.
     *
     * @param channel the event channel to which the {@code rdma_cm_id} reports its events
     * @param address the address of the {@code struct rdma_cm_id}
     */
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

    /** Returns the address of the {@code struct rdma_cm_id}. */
    public MemorySegment address() {
        return address;
    }

    /** Returns the multicast groups of this identifier. */
    public MulticastMemberships groups() {
        return groups;
    }

    /**
     * Returns a second owner of the same {@code rdma_cm_id}, for a migration to another event
     * channel. The caller must then call {@link #handOver} on one of the two owners, so that only
     * the other owner destroys the {@code rdma_cm_id}.
     */
    public synchronized NativeIdentifier successor(
            ConnectionLibrary newLibrary, NativeEventChannel newChannel) {
        var successor = new NativeIdentifier(newLibrary, newChannel, address, groups);
        successor.destroyMayBlock = destroyMayBlock;
        return successor;
    }

    /**
     * Records the start of a call that may block, unless another such call is in progress.
     *
     * @param destroyMayBlockThen true if {@code rdma_destroy_id} may wait for the peer after this
     *     call
     * @return false if the {@code rdma_cm_id} is closed or handed over, or another such call is in
     *     progress
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
     * If the event of the call in progress has already arrived, waits until the call has returned.
     * The program may start its next call when it receives the event, which can be before the
     * previous call returns.
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

    /** Records that the event with the result of a call has arrived. */
    public synchronized void answered(Call call) {
        answered |= inProgress == call;
    }

    /**
     * Records the end of the call in progress. Destroys the {@code rdma_cm_id} if it was closed
     * during the call.
     */
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

    /**
     * Closes the {@code rdma_cm_id} without waiting for a peer, as the description of this class
     * states.
     */
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

    /**
     * Ends the ownership: from now on, closing this object does not destroy the {@code rdma_cm_id}.
     */
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
