package org.jrdma.verbs.cm;

/**
 * Where the datagrams of a service go, as its program has said.
 *
 * @param deviceName the device that leads there, for {@link org.jrdma.verbs.Verbs#open}
 * @param parameters the way there, and what datagrams must carry
 * @param privateData what the program sent along, with its padding
 */
public record DatagramService(
        String deviceName, DatagramParameters parameters, PrivateData privateData) {}
