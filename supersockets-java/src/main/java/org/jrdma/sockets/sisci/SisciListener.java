package org.jrdma.sockets.sisci;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.sisci.LocalDataInterrupt;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.internal.LocalAddresses;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listener at a port of this node.
 *
 * <p>Clients find the listener by a segment whose id contains the port number. The segment contains
 * the number of the data interrupt to which clients send their connect requests, and the UDP port
 * at which clients get the {@linkplain AddressCookies cookies} that their requests must contain.
 * The connection is established when the request arrives, and then waits in the accept queue.
 */
public final class SisciListener extends BypassListener {

    /**
     * The offset of the word that identifies the segment as one of a listener: {@link #THIS_KIND}.
     */
    static final long KIND = 0;

    /** The offset of the number of the data interrupt. */
    static final long NUMBER = 8;

    /** The offset of the UDP port for cookies. */
    static final long COOKIE_PORT = 16;

    static final long THIS_KIND = 0x6a72646d_63000003L;

    /** The time during which temporary failures to connect to a client are retried. */
    private static final Duration TIMEOUT = Duration.ofMillis(200);

    private static final int SEGMENT_IDS = 0x6a640000;
    private static final Logger LOG = LoggerFactory.getLogger(SisciListener.class);

    private final SisciStreamNode streamNode;
    private final InetSocketAddress address;
    private final int ringBytes;
    private final int backlog;
    private final LocalSegment announcement;
    private final LocalMap announcementMap;
    private final LocalDataInterrupt requests;
    private final AddressCookies cookies;
    private int connecting;

    private SisciListener(
            SisciStreamNode streamNode,
            InetSocketAddress address,
            int backlog,
            int ringBytes,
            LocalSegment announcement,
            LocalMap announcementMap,
            LocalDataInterrupt requests,
            AddressCookies cookies) {
        this.streamNode = streamNode;
        this.address = address;
        this.backlog = backlog;
        this.ringBytes = ringBytes;
        this.announcement = announcement;
        this.announcementMap = announcementMap;
        this.requests = requests;
        this.cookies = cookies;
    }

    static SisciListener open(
            SisciStreamNode streamNode, InetSocketAddress address, int backlog, int ringBytes)
            throws FabricException {
        var cookies = AddressCookies.open(address.getAddress());
        try {
            return open(streamNode, address, backlog, ringBytes, cookies);
        } catch (Throwable e) {
            cookies.close();
            throw e;
        }
    }

    private static SisciListener open(
            SisciStreamNode streamNode,
            InetSocketAddress address,
            int backlog,
            int ringBytes,
            AddressCookies cookies)
            throws SisciException {
        var node = streamNode.node();
        var requests = node.newDataInterrupt();
        try {
            var announcement =
                    node.newSegment(segmentId(address.getPort()), StreamLayout.inPages(1));
            try {
                var map = announcement.map();
                var listener =
                        new SisciListener(
                                streamNode,
                                address,
                                backlog,
                                ringBytes,
                                announcement,
                                map,
                                requests,
                                cookies);
                requests.onMessage(listener::received);
                map.putLong(NUMBER, requests.number());
                map.putLong(COOKIE_PORT, cookies.port());
                map.putLongRelease(KIND, THIS_KIND);
                announcement.offer();
                return listener;
            } catch (Throwable e) {
                announcement.close();
                throw e;
            }
        } catch (Throwable e) {
            requests.close();
            throw e;
        }
    }

    /** Returns the id of the segment by which clients find the listener at a port. */
    static int segmentId(int port) {
        return SEGMENT_IDS | port;
    }

    private void received(byte[] message) {
        try {
            var request = ConnectRequest.decode(message);
            var client = request.client().getAddress();
            if (!cookies.isValid(client, request.cookie())) {
                throw new FabricException(
                        "the client has not proved its address " + client.getHostAddress());
            }
            if (!streamNode.tryExecuteAccept(client, () -> accept(request))) {
                throw new FabricException(
                        "too many requests wait for the address " + client.getHostAddress());
            }
        } catch (FabricException e) {
            LOG.debug(
                    "Dropped a connect request at {}: {}", AddressText.of(address), e.getMessage());
        }
    }

    private void accept(ConnectRequest request) {
        try {
            connect(request);
        } catch (IOException | RuntimeException e) {
            LOG.debug(
                    "Could not accept a client of {}: {}", AddressText.of(address), e.getMessage());
        } catch (Throwable e) {
            FailureLog.error(LOG, "Could not accept a SISCI client", e);
        }
    }

    private void connect(ConnectRequest request) throws IOException {
        var client = connectToClient(request);
        SisciStream stream;
        try {
            var use = new StreamSegment.Accepted(this, request.client().getAddress());
            stream = SisciStream.open(streamNode, ringBytes, use);
        } catch (Throwable e) {
            client.close();
            throw e;
        }
        var reply = ConnectReply.OTHER_ADDRESS;
        try {
            reply = replyTo(request);
            stream.join(client);
            stream.reply(reply);
            if (reply != ConnectReply.ACCEPTED) {
                stream.abandon();
                return;
            }
        } catch (Throwable e) {
            stream.abandon();
            releaseSlot(reply);
            throw e;
        }
        if (!enqueueAccepted(new Arrival(stream, request.target(), request.client()))) {
            // The stream is reset, because the client's request was already accepted.
            stream.close(true);
        }
    }

    /**
     * Connects to the segment of a client. Does not wait for a missing segment: a client creates
     * its segment before it sends its request, so the client has given up.
     */
    private PeerSegment connectToClient(ConnectRequest request)
            throws FabricException, InterruptedIOException {
        try {
            return connectToClient(request, Duration.ZERO);
        } catch (FabricTimeoutException e) {
            if (e.getCause() instanceof SisciException last
                    && last.error() == SisciError.NO_SUCH_SEGMENT) {
                throw e;
            }
            return connectToClient(request, TIMEOUT);
        }
    }

    private PeerSegment connectToClient(ConnectRequest request, Duration timeout)
            throws FabricException, InterruptedIOException {
        return PeerSegment.connect(
                streamNode, request.node(), request.segment(), request.wakeUp(), timeout);
    }

    /**
     * Handles a connect request that arrives over the segments of an earlier connection, which both
     * nodes reuse for the next stream. Does not block.
     */
    void requested(SisciStream stream, InetAddress client, byte[] message) {
        try {
            var request = ConnectRequest.decode(message);
            if (!request.client().getAddress().equals(client)) {
                throw new FabricException("the client has another address than before");
            }
            var reply = replyTo(request);
            try {
                stream.reply(reply);
            } catch (Throwable e) {
                releaseSlot(reply);
                throw e;
            }
            if (reply != ConnectReply.ACCEPTED) {
                stream.close(false);
            } else if (!enqueueAccepted(new Arrival(stream, request.target(), request.client()))) {
                stream.close(true);
            }
        } catch (FabricException e) {
            LOG.debug(
                    "Could not accept a client of {} over connected segments: {}",
                    AddressText.of(address),
                    e.getMessage());
            stream.close(true);
        } catch (Throwable e) {
            stream.close(true);
            throw e;
        }
    }

    ConnectReply replyTo(ConnectRequest request) {
        return isForThisListener(request) ? reserveSlot() : ConnectReply.OTHER_ADDRESS;
    }

    /**
     * Returns true if a request is for this listener. The processes of a node share the ports of
     * the node. Processes in different containers do not share addresses, so the address must match
     * too. Only clients in this namespace can reach its loopback addresses.
     */
    private boolean isForThisListener(ConnectRequest request) {
        var local = address.getAddress();
        var target = request.target().getAddress();
        return request.target().getPort() == address.getPort()
                && (local.isAnyLocalAddress() ? LocalAddresses.has(target) : local.equals(target))
                && (!target.isLoopbackAddress()
                        || LocalAddresses.has(request.client().getAddress()));
    }

    /** Reserves a slot in the accept queue for a client, and returns the reply for the client. */
    private synchronized ConnectReply reserveSlot() {
        if (isClosed()) {
            return ConnectReply.CLOSING;
        }
        if (queued() + connecting > backlog) {
            return ConnectReply.QUEUE_FULL;
        }
        connecting++;
        return ConnectReply.ACCEPTED;
    }

    private synchronized void releaseSlot(ConnectReply reply) {
        connecting -= reply == ConnectReply.ACCEPTED ? 1 : 0;
    }

    /**
     * Adds a connection to the accept queue, and releases its reserved slot. Returns false if the
     * listener is closed.
     */
    private boolean enqueueAccepted(Arrival arrival) {
        try {
            return enqueue(arrival);
        } finally {
            // Released only after the connection was added, so that the slot is counted at all
            // times.
            releaseSlot(ConnectReply.ACCEPTED);
        }
    }

    @Override
    protected void release() {
        announcementMap.close();
        announcement.close();
        requests.close();
        cookies.close();
    }
}
