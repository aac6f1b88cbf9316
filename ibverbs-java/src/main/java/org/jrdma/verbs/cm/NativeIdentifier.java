package org.jrdma.verbs.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.IdentifierFunctions;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The native identifier. It is destroyed by whoever closes it, unless that would wait: where
 * another thread is in a call that does, that destroys it afterwards; on iWARP, where the kernel
 * waits for the peer's answer, a thread of its own does.
 */
final class NativeIdentifier {

    private static final Logger LOG = LoggerFactory.getLogger(NativeIdentifier.class);

    /** What may wait for others, or must not be while that goes on. */
    enum Call {
        /** Waits for TCP, on iWARP. */
        CONNECT,
        /** Waits for who knows names. */
        LOOK_UP,
        MIGRATE
    }

    private final IdentifierFunctions functions;
    private final NativeChannel channel;
    private final MemorySegment address;
    private final JoinedGroups groups;
    private @Nullable Call underWay;

    /** Whether what that call is for has been told already, so that it is on its way back. */
    private boolean answered;

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
     * Another of these for the same identifier, whose events are to come to another channel. One of
     * both must {@link #handOver}.
     */
    synchronized NativeIdentifier successor(IdentifierFunctions itsFunctions, NativeChannel other) {
        var made = new NativeIdentifier(itsFunctions, other, address, groups);
        made.mayWait = mayWait;
        return made;
    }

    /**
     * Before a call that may wait, or that needs that none does. False if it is closed, or another
     * thread is in such a call.
     *
     * @param mayWaitAtItsEnd whether destroying it may wait from now on, for the peer's answer
     */
    synchronized boolean beginCall(Call call, boolean mayWaitAtItsEnd) {
        awaitReturn();
        if (closed || handedOver || underWay != null) {
            return false;
        }
        underWay = call;
        answered = false;
        mayWait |= mayWaitAtItsEnd;
        return true;
    }

    /** A program that has the answer may go on, though the call is not quite back. */
    private void awaitReturn() {
        var interrupted = false;
        while (underWay != null && answered) {
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

    /** The answer to a call is here, while that may still go on. */
    synchronized void answered(Call call) {
        answered |= underWay == call;
    }

    /** After that call. Destroys it if it was closed meanwhile. */
    void endCall() throws VerbsException {
        synchronized (this) {
            underWay = null;
            notifyAll();
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
            if (underWay != null) {
                return;
            }
            waits = mayWait && !handedOver;
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
