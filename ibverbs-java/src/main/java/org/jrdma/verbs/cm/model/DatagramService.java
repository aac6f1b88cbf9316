package org.jrdma.verbs.cm.model;

/**
 * A datagram service that a peer offers.
 *
 * @param deviceName the name of the local device from which the service is reachable; see {@link
 *     org.jrdma.verbs.Verbs#open}
 * @param parameters the destination of datagrams to the service
 * @param privateData the private data that the service's program sent, including padding
 */
public record DatagramService(
        String deviceName, DatagramParameters parameters, PrivateData privateData) {}
