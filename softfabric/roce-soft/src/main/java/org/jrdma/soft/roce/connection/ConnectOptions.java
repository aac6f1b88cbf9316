package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;

/**
 * The options of a connect request.
 *
 * @param transport the transport type, as in {@link ConnectRequest}
 * @param offer the parameters of this side's queue pair, whose sequence number is ignored
 * @param retries the number of retransmissions after which the queue pairs give up
 * @param acknowledgeTimeout the acknowledgement timeout of the queue pairs, encoded as in {@link
 *     RequestedPath}
 * @param privateData the private data, beginning with the encoded {@link PrivateDataHeader}
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
