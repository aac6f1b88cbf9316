package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;

/**
 * The client side of a SIDR exchange: requests the queue pair of a datagram service from a peer.
 */
public final class SidrClient extends TimedExchange {

    private static final int RESPONSE_TIMEOUT = 20;
    private static final int REPEATS = 15;

    private final Address remote;
    private final SidrRequest request;
    private final Receiver receiver;

    /**
     * A listener for the result of a SIDR request. It is called while the lock of the engine's port
     * is held. An implementation must neither block nor call the connection manager.
     */
    public interface Receiver {

        /** Called when the peer has answered. The status of the reply may be an error. */
        void answered(SidrReply reply);

        /**
         * Called when the peer has answered neither the request nor any repetition of the request.
         */
        void unreachable();
    }

    SidrClient(
            ConnectionManager manager,
            int localId,
            Address remote,
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

    Address remote() {
        return remote;
    }

    void sendRequest() {
        manager.send(remote, request);
        repeat(REPEATS, nanos(RESPONSE_TIMEOUT) + 2 * nanos(Connection.PACKET_LIFETIME));
    }

    void answered(SidrReply reply) {
        manager.forget(this);
        receiver.answered(reply);
    }

    /** Cancels the request. The listener is not called afterwards. */
    public void close() {
        manager.forget(this);
    }

    @Override
    void expired() {
        if (startNextRepeat()) {
            manager.send(remote, request);
        } else {
            manager.forget(this);
            receiver.unreachable();
        }
    }
}
