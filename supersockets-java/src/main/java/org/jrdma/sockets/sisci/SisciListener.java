package org.jrdma.sockets.sisci;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.sisci.DataInterrupt;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.SisciException;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.internal.NetworkNamespace;
import org.jrdma.sockets.internal.SocketCalls;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A port of this node at which streams are accepted. Peers find it by a segment whose id is made of
 * the port's number; in it stands the number of the data interrupt that takes their greetings.
 * Connections are set up when the greeting comes, and wait here for whoever accepts.
 */
public final class SisciListener extends BypassListener {

    static final long KIND = 0;
    static final long NUMBER = 8;
    static final long THIS_KIND = 0x6a72646d_63000001L;

    /** A client's segment is there before its greeting, or the client has given up. */
    private static final Duration PATIENCE = Duration.ofMillis(200);

    private static final int SEGMENT_IDS = 0x6a640000;
    private static final Logger LOG = LoggerFactory.getLogger(SisciListener.class);

    private final SisciFabric fabric;
    private final InetSocketAddress address;
    private final int ringBytes;
    private final int backlog;
    private final LocalSegment sign;
    private final LocalMap signMap;
    private final DataInterrupt greetings;
    private final Queue<Arrival> arrivals = new ArrayDeque<>();
    private int underWay;
    private boolean closed;

    private SisciListener(
            SisciFabric fabric,
            InetSocketAddress address,
            int backlog,
            int ringBytes,
            LocalSegment sign,
            LocalMap signMap,
            DataInterrupt greetings) {
        this.fabric = fabric;
        this.address = address;
        this.backlog = backlog;
        this.ringBytes = ringBytes;
        this.sign = sign;
        this.signMap = signMap;
        this.greetings = greetings;
    }

    static SisciListener open(
            SisciFabric fabric, InetSocketAddress address, int backlog, int ringBytes)
            throws SisciException {
        var node = fabric.node();
        var greetings = node.newDataInterrupt();
        try {
            var sign = node.newSegment(segmentId(address.getPort()), StreamLayout.inPages(1));
            try {
                var map = sign.map();
                var door =
                        new SisciListener(
                                fabric, address, backlog, ringBytes, sign, map, greetings);
                greetings.onMessage(door::greeted);
                map.putLong(NUMBER, greetings.number());
                map.putLongRelease(KIND, THIS_KIND);
                sign.offer();
                return door;
            } catch (SisciException | RuntimeException e) {
                sign.close();
                throw e;
            }
        } catch (SisciException | RuntimeException e) {
            greetings.close();
            throw e;
        }
    }

    static int segmentId(int port) {
        return SEGMENT_IDS | port;
    }

    private void greeted(byte[] message) {
        fabric.lendToLetIn(() -> {
            try {
                letIn(ConnectRequest.decode(message));
            } catch (IOException | RuntimeException e) {
                LOG.debug("A client of {} has not come: {}", address, e.getMessage());
            }
        });
    }

    private void letIn(ConnectRequest greeting) throws IOException {
        var stream = SisciStream.open(fabric, ringBytes, new SegmentPair.LetIn(this));
        var answer = answerTo(greeting);
        try {
            stream.join(greeting.node(), greeting.segment(), greeting.bell(), PATIENCE);
            stream.answer(answer);
        } catch (IOException | RuntimeException e) {
            stream.abandon();
            leaveQueue(answer);
            throw e;
        }
        if (answer != ConnectReply.ACCEPTED) {
            stream.abandon();
        } else if (!arrive(new Arrival(stream, greeting.target(), greeting.client()))) {
            stream.close(true); // the client believes that it is in
        }
    }

    /** The same by segments that have been here before. Does not block. */
    void called(SisciStream stream, byte[] message) {
        try {
            var greeting = ConnectRequest.decode(message);
            var answer = answerTo(greeting);
            stream.answer(answer);
            if (answer != ConnectReply.ACCEPTED) {
                stream.close(false);
            } else if (!arrive(new Arrival(stream, greeting.target(), greeting.client()))) {
                stream.close(true);
            }
        } catch (IOException e) {
            LOG.debug("A client of {} has not come again: {}", address, e.getMessage());
            stream.close(true);
        }
    }

    synchronized boolean isClosed() {
        return closed;
    }

    ConnectReply answerTo(ConnectRequest greeting) {
        return isForHere(greeting) ? takePlace() : ConnectReply.OTHER_ADDRESS;
    }

    /** The processes of a node share its ports, but in containers not its addresses. */
    private boolean isForHere(ConnectRequest greeting) {
        var own = address.getAddress();
        var target = greeting.target().getAddress();
        return greeting.target().getPort() == address.getPort()
                && (own.isAnyLocalAddress() ? NetworkNamespace.has(target) : own.equals(target))
                && (!target.isLoopbackAddress() || greeting.namespace() == NetworkNamespace.id());
    }

    /** Takes a place in the queue for a client that is to come in. */
    private synchronized ConnectReply takePlace() {
        if (closed) {
            return ConnectReply.CLOSING;
        }
        if (arrivals.size() + underWay > backlog) {
            return ConnectReply.QUEUE_FULL;
        }
        underWay++;
        return ConnectReply.ACCEPTED;
    }

    private synchronized void leaveQueue(ConnectReply answer) {
        underWay -= answer == ConnectReply.ACCEPTED ? 1 : 0;
    }

    /** False if nobody accepts any more. */
    private boolean arrive(Arrival arrival) {
        synchronized (this) {
            underWay--;
            if (closed) {
                return false;
            }
            arrivals.add(arrival);
        }
        changed();
        return true;
    }

    @Override
    public synchronized @Nullable Arrival poll() {
        return arrivals.poll();
    }

    @Override
    public synchronized int ready() {
        return arrivals.isEmpty() ? 0 : SocketCalls.POLLIN;
    }

    @Override
    protected void arm(int events) {} // whoever comes is told of in any case

    @Override
    public void close() {
        Queue<Arrival> left;
        synchronized (this) {
            closed = true;
            left = new ArrayDeque<>(arrivals);
            arrivals.clear();
        }
        left.forEach(arrival -> arrival.stream().close(true));
        PlatformCalls.call(() -> {
            signMap.close();
            sign.close();
            greetings.close();
            return null;
        });
    }
}
