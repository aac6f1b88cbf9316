package org.jrdma.verbs.cm;

import java.net.InetSocketAddress;
import org.jrdma.ffi.AddressText;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.VerbsException;

/**
 * A connect request or a request for a datagram service, which a peer has sent to a listener. It
 * owns the {@link Identifier} that was created for it.
 */
abstract sealed class IncomingRequest implements AutoCloseable
        permits ConnectionRequest, DatagramServiceRequest {

    private final ConnectionEvent.Request event;
    private final InetSocketAddress peerAddress;
    final IdentifierOwnership ownership;

    @SuppressWarnings("this-escape") // Leak detection uses only the identity of this object.
    IncomingRequest(ConnectionEvent.Request event, String kind) {
        this.event = event;
        this.peerAddress = event.identifier().peerAddress().orElseThrow();
        this.ownership =
                new IdentifierOwnership(
                        event.identifier(), this, kind + " from " + AddressText.of(peerAddress));
    }

    /** The peer's address. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** The private data that the peer's program sent, including padding. */
    public PrivateData privateData() {
        return event.privateData();
    }

    /**
     * The name of the local device through which the request arrived. {@link
     * org.jrdma.verbs.Verbs#open} opens the device.
     */
    public String deviceName() {
        return event.identifier().deviceName().orElseThrow();
    }

    /** The number of the local device port through which the request arrived, starting at 1. */
    public int devicePort() {
        return event.identifier().devicePort().orElseThrow();
    }

    /**
     * Rejects the request and closes it.
     *
     * @param privateData private data for the peer's program: at most 148 bytes for a connection,
     *     136 bytes for a datagram service, 248 bytes on iWARP
     * @throws IllegalArgumentException if the private data is longer than this limit
     */
    public void reject(byte... privateData) throws VerbsException {
        try {
            event.identifier().reject(privateData);
        } catch (IllegalStateException e) {
            throw ownership.explained(e);
        } finally {
            close();
        }
    }

    /**
     * Closes the request. Rejects the request if the program has neither accepted nor rejected it.
     */
    @Override
    public void close() {
        ownership.close();
    }

    @Override
    public String toString() {
        return ownership.toString();
    }
}
