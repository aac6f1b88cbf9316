package org.jrdma.verbs.cm.model;

/**
 * The destination of a service's datagrams, as the service's program announced it.
 *
 * @param deviceName the local device on the path to it, for {@link org.jrdma.verbs.Verbs#open}
 * @param parameters the destination
 * @param privateData what the service's program sent with its answer, with padding
 */
public record DatagramService(
        String deviceName, DatagramParameters parameters, PrivateData privateData) {}
