package org.jrdma.verbs.cm;

import java.net.InetSocketAddress;
import org.jrdma.verbs.DatagramQueuePair;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.VerbsException;

/** A peer that wants to know where datagrams go, until it is answered, refused or closed. */
public final class DatagramInquiry implements AutoCloseable {

    private final ConnectionEvent.DatagramRequest request;
    private final InetSocketAddress peerAddress;
    private final Custody custody;

    @SuppressWarnings("this-escape") // all is set
    DatagramInquiry(ConnectionEvent.DatagramRequest request) {
        this.request = request;
        this.peerAddress = request.identifier().peerAddress().orElseThrow();
        this.custody = new Custody(request.identifier(), this, toString());
    }

    /** The peer's address. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** What the peer's program sent along, with its padding. */
    public PrivateData privateData() {
        return request.privateData();
    }

    /** The device that it came through, for {@link org.jrdma.verbs.Verbs#open}. */
    public String deviceName() {
        return request.identifier().deviceName().orElseThrow();
    }

    /**
     * Answers: to this queue pair.
     *
     * @param queuePair of the device that it came through, active with {@link
     *     DatagramParameters#QUEUE_KEY}
     * @param privateData for the peer's program: at most 136 bytes
     * @throws IllegalArgumentException if it is longer
     */
    public void accept(DatagramQueuePair queuePair, byte... privateData) throws VerbsException {
        try {
            request.identifier()
                    .accept(
                            ConnectionParameters.ofDatagrams(queuePair.endpoint().queuePairNumber()),
                            privateData);
        } catch (IllegalStateException e) {
            throw custody.explained(e);
        }
        close();
    }

    /**
     * Refuses, with something for the peer's program: at most 136 bytes.
     *
     * @throws IllegalArgumentException if it is longer
     */
    public void reject(byte... privateData) throws VerbsException {
        try {
            request.identifier().reject(privateData);
        } catch (IllegalStateException e) {
            throw custody.explained(e);
        } finally {
            close();
        }
    }

    /** Refuses, if it was not answered. */
    @Override
    public void close() {
        custody.close();
    }

    @Override
    public String toString() {
        return "question from " + peerAddress;
    }
}
