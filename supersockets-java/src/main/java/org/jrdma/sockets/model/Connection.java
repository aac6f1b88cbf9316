package org.jrdma.sockets.model;

import java.net.SocketAddress;
import java.time.Instant;
import org.jrdma.ffi.AddressText;

/**
 * The connection of a stream at one moment.
 *
 * @param local the local address
 * @param peer the address of the peer
 * @param accepted true if the peer connected to this process
 * @param transport the name of the transport in use. For a socket of the kernel, it is the
 *     transport that the kernel reports for the descriptor. That transport may differ from the
 *     chosen one, because a preloaded library may have replaced the socket, and SMC may have fallen
 *     back to TCP.
 * @param whyNotFaster the transports that were preferred to the one in use, each with the reason
 *     why it is not used; empty if the first choice is used
 * @param bytesReceived the number of bytes that the program has read
 * @param bytesSent the number of bytes that the program has written
 * @param since the time when the stream was connected or accepted
 */
public record Connection(
        SocketAddress local,
        SocketAddress peer,
        boolean accepted,
        String transport,
        String whyNotFaster,
        long bytesReceived,
        long bytesSent,
        Instant since) {

    /** Returns true if another transport was preferred to the one in use. */
    public boolean isFallback() {
        return !whyNotFaster.isEmpty();
    }

    /**
     * Returns the peer, the transport in use, and why a more preferred transport is not used:
     * {@code storage01:8003 tcp (smc: ...)}.
     */
    @Override
    public String toString() {
        var reason = isFallback() ? " (" + whyNotFaster + ")" : "";
        return "%s %s%s".formatted(AddressText.of(peer), transport, reason);
    }
}
