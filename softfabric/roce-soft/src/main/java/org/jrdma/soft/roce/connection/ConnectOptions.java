package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;

/**
 * What a side asks for that connects.
 *
 * @param transport the kind of connection, as in {@link ConnectRequest}
 * @param offer its queue pair; the sequence number is not looked at
 * @param retries how often the queue pairs are to send again
 * @param acknowledgeTimeout of the queue pairs, as in {@link RequestedPath}
 * @param privateData with the header in front
 */
public record ConnectOptions(
        long serviceId,
        int transport,
        EndpointParameters offer,
        int retries,
        int partitionKey,
        int trafficClass,
        int acknowledgeTimeout,
        MemorySegment privateData) {}
