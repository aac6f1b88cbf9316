package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;

/**
 * The server side of a SIDR exchange, which answers a request for the queue pair of a datagram
 * service.
 */
public final class SidrServer extends TimedExchange {

    /**
     * The time for which a reply is kept, so that repeated requests receive it again: 4.096 us
     * times 2 to this power.
     */
    private static final int REPLY_LIFETIME = 20;

    private final RoceGid remote;
    private final SidrRequest request;
    private @Nullable SidrReply reply;

    SidrServer(ConnectionManager manager, int localId, RoceGid remote, SidrRequest request) {
        super(manager, localId);
        this.remote = remote;
        this.request = request;
    }

    /** Returns the address of the peer. */
    public RoceGid remote() {
        return remote;
    }

    int requestId() {
        return request.requestId();
    }

    /**
     * Accepts the request and sends the queue pair number and queue key. Returns false if the
     * request was already answered.
     *
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean accept(int queuePair, int queueKey, MemorySegment privateData) {
        return answer(reply(SidrReply.VALID, queuePair, queueKey, privateData));
    }

    /**
     * Rejects the request. Returns false if the request was already answered.
     *
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean reject(MemorySegment privateData) {
        return answer(reply(SidrReply.REJECTED, 0, 0, privateData));
    }

    private boolean answer(SidrReply message) {
        if (reply != null) {
            return false;
        }
        manager.send(remote, message);
        reply = message;
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

    /** Rejects the request if it was not answered. */
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
