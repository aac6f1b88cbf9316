package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;
import org.jspecify.annotations.Nullable;

/**
 * The server side of a SIDR exchange: answers a request with the queue pair of a datagram service.
 */
public final class SidrServer extends TimedExchange {

    /**
     * The exponent of the time for which a reply is kept, so that it can be sent again if the peer
     * repeats its request, in units of 4.096 us.
     */
    private static final int REPLY_LIFETIME = 20;

    private final Address remote;
    private final SidrRequest request;
    private @Nullable SidrReply reply;

    SidrServer(ConnectionManager manager, int localId, Address remote, SidrRequest request) {
        super(manager, localId);
        this.remote = remote;
        this.request = request;
    }

    /** The address of the peer. */
    public Address remote() {
        return remote;
    }

    int requestId() {
        return request.requestId();
    }

    /**
     * Accepts the request.
     *
     * @return false if the request was answered before
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean accept(int queuePair, int queueKey, MemorySegment privateData) {
        return answer(reply(SidrReply.VALID, queuePair, queueKey, privateData));
    }

    /**
     * Rejects the request.
     *
     * @return false if the request was answered before
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean reject(MemorySegment privateData) {
        return answer(reply(SidrReply.REJECTED, 0, 0, privateData));
    }

    private boolean answer(SidrReply message) {
        if (reply != null) {
            return false;
        }
        reply = message;
        manager.send(remote, message);
        startTimer(nanos(REPLY_LIFETIME));
        return true;
    }

    SidrReply reply(int status) {
        return reply(status, 0, 0, Message.NO_DATA);
    }

    private SidrReply reply(int status, int queuePair, int queueKey, MemorySegment privateData) {
        return new SidrReply(
                request.transaction(),
                request.requestId(),
                status,
                queuePair,
                request.serviceId(),
                queueKey,
                privateData);
    }

    /** Ends the exchange. Rejects the request if it was not answered before. */
    public void close() {
        reject(Message.NO_DATA);
    }

    void requestRepeated() {
        if (reply != null) {
            manager.send(remote, reply);
        }
    }

    @Override
    void expired() {
        manager.forget(this);
    }
}
