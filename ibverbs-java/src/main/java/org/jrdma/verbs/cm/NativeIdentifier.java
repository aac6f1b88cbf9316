package org.jrdma.verbs.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.verbs.VerbsException;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.IdentifierFunctions;

/**
 * The native identifier. It is destroyed by whoever closes it, or, if it is connecting then, by the
 * thread that does: on iWARP that is a call that nothing can end, and that close() must not wait
 * for.
 */
final class NativeIdentifier {

    private final IdentifierFunctions functions;
    private final NativeChannel channel;
    private final MemorySegment address;
    private boolean connecting;
    private boolean closed;
    private boolean handedOver;

    /** Takes over what was made. */
    NativeIdentifier(IdentifierFunctions functions, NativeChannel channel, MemorySegment address) {
        this.functions = functions;
        this.channel = channel;
        this.address = address;
        channel.retain();
    }

    MemorySegment address() {
        return address;
    }

    /** Before the call that connects. False if it is closed, or another thread connects it. */
    synchronized boolean beginConnecting() {
        if (closed || connecting) {
            return false;
        }
        connecting = true;
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

    void close() throws VerbsException {
        synchronized (this) {
            closed = true;
            if (connecting) {
                return;
            }
        }
        destroy();
    }

    /** Leaves the address to another of these, before it is closed. */
    synchronized void handOver() {
        handedOver = true;
    }

    private void destroy() throws VerbsException {
        try {
            if (!handedOver) {
                functions.destroy(
                        address,
                        Attempt.to("rdma_destroy_id", () -> "for %x".formatted(address.address())));
            }
        } finally {
            channel.release();
        }
    }
}
