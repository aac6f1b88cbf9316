package org.jrdma.sockets.sisci;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.sisci.RemoteDataInterrupt;

/** Sends arbitrary connect requests to a listener of node 4. */
record RawClient(SisciStreamNode streamNode, InetSocketAddress listener) {

    static final int LISTENING_NODE = 4;
    private static final int RING_BYTES = 4096;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Requests the cookie for an address of this host. */
    long cookie(InetAddress client) throws Exception {
        var port = (int) announced(SisciListener.COOKIE_PORT);
        var cookies = new InetSocketAddress(listener.getAddress(), port);
        return AddressCookies.request(client, cookies, Deadline.NEVER);
    }

    /** Sends a request as a client does. Returns its stream, which is not connected. */
    SisciStream request(InetSocketAddress client, long cookie) throws Exception {
        var route = new StreamSegment.Route(LISTENING_NODE, listener, RING_BYTES);
        var stream = SisciStream.open(streamNode, RING_BYTES, route);
        try (var interrupt = connectInterrupt()) {
            interrupt.trigger(encoded(client, cookie, stream.segmentId()), TIMEOUT);
        }
        return stream;
    }

    byte[] encoded(InetSocketAddress client, long cookie, int segment) {
        return new ConnectRequest(
                        streamNode.node().id(),
                        segment,
                        streamNode.wakeUpNumber(),
                        cookie,
                        client,
                        listener)
                .encode();
    }

    RemoteDataInterrupt connectInterrupt() throws Exception {
        var number = (int) announced(SisciListener.NUMBER);
        return streamNode.node().connectDataInterrupt(LISTENING_NODE, number, Duration.ZERO);
    }

    private long announced(long offset) throws Exception {
        var segment = SisciListener.segmentId(listener.getPort());
        try (var remote = streamNode.node().connect(LISTENING_NODE, segment, Duration.ZERO);
                var map = remote.map()) {
            return map.getLong(offset);
        }
    }
}
