package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;
import org.jspecify.annotations.Nullable;

/** A peer's question where datagrams for a service go, as the side answers that has the service. */
public final class SidrServer extends TimedExchange {

    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    /** How long an answer is kept for a peer that has missed it: 4.096 us times 2 to this. */
    private static final int KEPT = 20;

    private final Address remote;
    private final SidrRequest request;
    private @Nullable SidrReply reply;

    SidrServer(ConnectionManager manager, int localId, Address remote, SidrRequest request) {
        super(manager, localId);
        this.remote = remote;
        this.request = request;
    }

    /** Who asks. */
    public Address remote() {
        return remote;
    }

    int requestId() {
        return request.requestId();
    }

    /**
     * Says where datagrams go. False if it was said before.
     *
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean accept(int queuePair, int queueKey, MemorySegment privateData) {
        return answer(reply(SidrReply.VALID, queuePair, queueKey, privateData));
    }

    /**
     * Refuses. False if the answer was given before.
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
        reply = message;
        manager.send(remote, message);
        wakeIn(nanos(KEPT));
        return true;
    }

    SidrReply reply(int status) {
        return reply(status, 0, 0, NOTHING);
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

    /** Refuses, unless it was answered. */
    public void close() {
        reject(NOTHING);
    }

    void askedAgain() {
        if (reply != null) {
            manager.send(remote, reply);
        }
    }

    @Override
    void expired() {
        manager.forget(this);
    }
}
