package org.jrdma.verbs.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.VerbsException;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.IdentifierFunctions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The native identifier. It is destroyed by whoever closes it, but on iWARP, where the kernel would
 * have that thread wait: for TCP while another thread is in the call that connects, which then
 * destroys it, and after that for the peer's answer.
 */
final class NativeIdentifier {

    private static final Logger LOG = LoggerFactory.getLogger(NativeIdentifier.class);

    private final IdentifierFunctions functions;
    private final NativeChannel channel;
    private final MemorySegment address;
    private final JoinedGroups groups;
    private boolean connecting;
    private boolean mayWait;
    private boolean closed;
    private boolean handedOver;

    /** Takes over what was made. */
    NativeIdentifier(
            IdentifierFunctions functions,
            NativeChannel channel,
            MemorySegment address,
            JoinedGroups groups) {
        this.functions = functions;
        this.channel = channel;
        this.address = address;
        this.groups = groups;
        channel.retain();
    }

    MemorySegment address() {
        return address;
    }

    JoinedGroups groups() {
        return groups;
    }

    /**
     * Before the call that connects. False if it is closed, or another thread connects it.
     *
     * @param onIwarp whether destroying it may wait from now on, for the peer's answer
     */
    synchronized boolean beginConnecting(boolean onIwarp) {
        if (closed || connecting) {
            return false;
        }
        connecting = true;
        mayWait = onIwarp;
        return true;
    }

    /** After the call that connects. Destroys it if it was closed meanwhile. */
    void endConnecting() throws VerbsException {
        synchronized (this) {
            connecting = false;
            if (!closed) {
                return;
            }
        }
        destroy();
    }

    /** Does not wait for a peer. */
    void close() throws VerbsException {
        boolean waits;
        synchronized (this) {
            closed = true;
            if (connecting) {
                return;
            }
            waits = mayWait;
        }
        if (waits) {
            Thread.ofPlatform().daemon().name("jrdma-destroy").start(this::destroyLater);
        } else {
            destroy();
        }
    }

    private void destroyLater() {
        try {
            destroy();
        } catch (VerbsException e) {
            LOG.warn("{}", e.getMessage());
        }
    }

    /** Leaves the address to another of these, before it is closed. */
    synchronized void handOver() {
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
            groups.leaveAll(functions, address);
        } finally {
            functions.destroy(
                    address,
                    Attempt.to("rdma_destroy_id", () -> "for %x".formatted(address.address())));
        }
    }
}
