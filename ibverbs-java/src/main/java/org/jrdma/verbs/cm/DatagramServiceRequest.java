package org.jrdma.verbs.cm;

import java.net.InetSocketAddress;
import org.jrdma.verbs.DatagramQueuePair;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.VerbsException;

/**
 * A peer's request for the destination of a service's datagrams, until it is accepted, rejected or
 * closed. On the wire it is a service ID resolution request (SIDR_REQ).
 */
public final class DatagramServiceRequest implements AutoCloseable {

    private final ConnectionEvent.DatagramRequest request;
    private final InetSocketAddress peerAddress;
    private final IdentifierOwnership ownership;

    @SuppressWarnings("this-escape") // all is set
    DatagramServiceRequest(ConnectionEvent.DatagramRequest request) {
        this.request = request;
        this.peerAddress = request.identifier().peerAddress().orElseThrow();
        this.ownership = new IdentifierOwnership(request.identifier(), this, toString());
    }

    /** The peer's address. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** The private data of the peer's program, with padding. */
    public PrivateData privateData() {
        return request.privateData();
    }

    /** The name of the local device of the request, for {@link org.jrdma.verbs.Verbs#open}. */
    public String deviceName() {
        return request.identifier().deviceName().orElseThrow();
    }

    /**
     * Accepts: datagrams go to this queue pair.
     *
     * @param queuePair a queue pair of the request's device, active with {@link
     *     DatagramParameters#QUEUE_KEY}
     * @param privateData for the peer's program: at most 136 bytes
     * @throws IllegalArgumentException if it is longer
     */
    public void accept(DatagramQueuePair queuePair, byte... privateData) throws VerbsException {
        try {
            request.identifier()
                    .accept(
                            ConnectionParameters.ofDatagrams(
                                    queuePair.endpoint().queuePairNumber()),
                            privateData);
        } catch (IllegalStateException e) {
            throw ownership.explained(e);
        }
        close();
    }

    /**
     * Rejects, with private data for the peer's program: at most 136 bytes.
     *
     * @throws IllegalArgumentException if it is longer
     */
    public void reject(byte... privateData) throws VerbsException {
        try {
            request.identifier().reject(privateData);
        } catch (IllegalStateException e) {
            throw ownership.explained(e);
        } finally {
            close();
        }
    }

    /** Rejects the request, if it was not answered. */
    @Override
    public void close() {
        ownership.close();
    }

    @Override
    public String toString() {
        return "service request from " + peerAddress;
    }
}
