package org.jrdma.volume.client;

import java.time.Duration;
import java.util.List;
import org.jrdma.volume.protocol.RequestHeader;

/**
 * The options of a client.
 *
 * @param name the name of the client in messages
 * @param servers the addresses of the servers that can be the coordinator; several for each server,
 *     one for each transport
 * @param isRegistering true to register a key of this client with the fence of its drive. False if
 *     the program registers another key, because a drive knows one key of each host
 * @param ownAddresses the addresses at which this node serves blocks; none if it does not
 * @param callTimeout the longest wait for a reply, after which the client connects again
 * @param retryTimeout the time after which an operation fails if no coordinator executes it, or no
 *     path to the data works
 */
public record ClientOptions(
        String name,
        List<List<String>> servers,
        List<String> ownAddresses,
        boolean isRegistering,
        Duration callTimeout,
        Duration retryTimeout) {

    /** Copies the addresses. Omits own addresses that do not fit into a message. */
    public ClientOptions {
        servers = servers.stream().map(List::copyOf).toList();
        ownAddresses = ownAddresses.stream().limit(RequestHeader.MAX_ADDRESSES).toList();
    }
}
