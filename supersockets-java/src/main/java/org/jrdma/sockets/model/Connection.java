package org.jrdma.sockets.model;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Instant;

/**
 * How a stream is connected, at one moment.
 *
 * @param local its address here
 * @param peer whom it leads to
 * @param accepted whether the peer connected to us
 * @param transport the way that its bytes take, by the descriptor's own word: a preloaded library
 *     may have made it another than was asked for; and SMC may go over TCP by itself
 * @param whyNotFaster the transports that were preferred to it, each with the reason why it was not
 *     taken; empty if it is the first choice
 * @param bytesReceived what the program has read
 * @param bytesSent what the program has written
 * @param since when it was connected or accepted
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

    /** Whether another transport was preferred. */
    public boolean isFallBack() {
        return !whyNotFaster.isEmpty();
    }

    /** The peer, the transport, and why no faster one: {@code storage01:8003 tcp (smc: ...)}. */
    @Override
    public String toString() {
        var reason = isFallBack() ? " (" + whyNotFaster + ")" : "";
        return "%s %s%s".formatted(name(peer), transport, reason);
    }

    /** An address as it is printed: of the internet with the name that the program gave. */
    public static String name(SocketAddress address) {
        return address instanceof InetSocketAddress internet
                ? internet.getHostString() + ":" + internet.getPort()
                : address.toString();
    }
}
