package org.jrdma.verbs.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.VerbsException;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.IdentifierFunctions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The native identifier. It is destroyed by whoever closes it, unless that would wait: where
 * another thread is in a call that does, that destroys it afterwards; on iWARP, where the kernel
 * waits for the peer's answer, a thread of its own does.
 */
final class NativeIdentifier {

    private static final Logger LOG = LoggerFactory.getLogger(NativeIdentifier.class);

    private final IdentifierFunctions functions;
    private final NativeChannel channel;
    private final MemorySegment address;
    private final JoinedGroups groups;
    private boolean inCall;
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
     * Before a call that may wait: for TCP on iWARP, or for who knows names. False if it is closed,
     * or another thread is in such a call.
     *
     * @param mayWaitAtItsEnd whether destroying it may wait from now on, for the peer's answer
     */
    synchronized boolean beginCall(boolean mayWaitAtItsEnd) {
        if (closed || inCall) {
            return false;
        }
        inCall = true;
        mayWait |= mayWaitAtItsEnd;
        return true;
    }

    /** After that call. Destroys it if it was closed meanwhile. */
    void endCall() throws VerbsException {
        synchronized (this) {
            inCall = false;
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
            if (inCall) {
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
