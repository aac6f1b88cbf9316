package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;

/**
 * The options of a connect request.
 *
 * @param serviceId the ID of the service that the peer listens on
 * @param transport the transport of the connection, one of the constants of {@link ConnectRequest}
 * @param offer the parameters of this side's queue pair; the sequence number is ignored
 * @param retries the number of retries after a timeout of the queue pairs
 * @param partitionKey the partition key of the connection
 * @param trafficClass the traffic class of the connection's packets
 * @param acknowledgeTimeout the exponent of the acknowledgement timeout of the queue pairs, as in
 *     {@link RequestedPath}
 * @param privateData the private data, beginning with a {@link PrivateDataHeader}
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
