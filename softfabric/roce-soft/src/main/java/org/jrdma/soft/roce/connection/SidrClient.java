package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.RoceGid;

/**
 * The client side of a SIDR exchange, which asks a peer for the queue pair of a datagram service.
 */
public final class SidrClient extends TimedExchange {

    private static final int RESPONSE_TIMEOUT = 20;
    private static final int REPEATS = 15;

    private final RoceGid remote;
    private final SidrRequest request;
    private final Receiver receiver;

    /**
     * Receives the result. Called by the thread that drives the engine; must neither block nor call
     * the connection manager.
     */
    public interface Receiver {

        /** Called once when the peer has answered, with any status. */
        void answered(SidrReply reply);

        /** Called once when the peer has answered neither the request nor its repetitions. */
        void unreachable();
    }

    SidrClient(
            ConnectionManager manager,
            int localId,
            RoceGid remote,
            long serviceId,
            int partitionKey,
            MemorySegment privateData,
            Receiver receiver) {
        super(manager, localId);
        this.remote = remote;
        this.receiver = receiver;
        this.request =
                new SidrRequest(
                        Integer.toUnsignedLong(localId),
                        localId,
                        partitionKey,
                        serviceId,
                        privateData);
    }

    RoceGid remote() {
        return remote;
    }

    void sendRequest() {
        manager.send(remote, request);
        repeat(REPEATS, responseWait(RESPONSE_TIMEOUT, RESPONSE_TIMEOUT));
    }

    void answered(SidrReply reply) {
        receiver.answered(reply);
        manager.forget(this);
    }

    /** Cancels the exchange. The receiver is not called any more. */
    public void close() {
        manager.forget(this);
    }

    @Override
    void expired() {
        if (startNextRepeat()) {
            manager.send(remote, request);
        } else {
            receiver.unreachable();
            manager.forget(this);
        }
    }
}
