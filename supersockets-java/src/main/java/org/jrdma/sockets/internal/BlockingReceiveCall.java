package org.jrdma.sockets.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;

/**
 * Receives from a TCP socket by a system call that waits for bytes. A wait by {@link
 * DescriptorWaiting} takes two more system calls, which is a fifth of the time of a round trip of
 * two threads on one processor.
 *
 * <p>Used by platform threads, one at a time. Another thread can cancel a wait only by shutting
 * down the input of the socket. Other kinds of sockets are not supported: for SMC, the kernel does
 * not wake up the thread.
 */
public final class BlockingReceiveCall {

    private static final int SOL_SOCKET = 1;
    private static final int SO_PROTOCOL = 38;
    private static final int IPPROTO_TCP = 6;
    private static final int SO_DOMAIN = 39;

    private final int descriptor;

    // Guarded by this
    private boolean prepared;
    private boolean supported;
    private boolean waiting;
    private boolean ended;

    public BlockingReceiveCall(int descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Receives bytes, and waits for at least one byte. Returns 0 at the end of the stream, {@link
     * SocketCalls#AGAIN} if this kind of socket is not supported or after {@link #end()}, or
     * another negative errno.
     */
    public int receive(MemorySegment target, long maxBytes) {
        synchronized (this) {
            if (!prepared) {
                supported = isTcp() && SocketCalls.setBlocking(descriptor) == 0;
                prepared = true;
            }
            if (!supported || ended) {
                return SocketCalls.AGAIN;
            }
            waiting = true;
        }
        try {
            return SocketCalls.receiveBlocking(descriptor, target, maxBytes);
        } finally {
            synchronized (this) {
                waiting = false;
            }
        }
    }

    private boolean isTcp() {
        var domain = option(SO_DOMAIN);
        return (domain == SocketCalls.AF_INET || domain == SocketCalls.AF_INET6)
                && option(SO_PROTOCOL) == IPPROTO_TCP;
    }

    private int option(int name) {
        try (var scratch = Scratch.take()) {
            var value = scratch.value(Integer.BYTES);
            var length = scratch.valueLength(Integer.BYTES);
            var result = SocketCalls.getOption(descriptor, SOL_SOCKET, name, value, length);
            return result < 0 ? result : value.get(JAVA_INT, 0);
        }
    }

    /**
     * Ends the current wait, because the socket is about to be closed. Later calls of {@link
     * #receive} do not wait.
     */
    public synchronized void end() {
        ended = true;
        if (waiting) {
            var _ = SocketCalls.shutdown(descriptor, SocketCalls.SHUT_RD);
        }
    }
}
