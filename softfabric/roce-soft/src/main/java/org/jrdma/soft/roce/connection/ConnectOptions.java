package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;

/**
 * The options of a connect request.
 *
 * @param transport the kind of connection, as in {@link ConnectRequest}
 * @param offer the parameters of this side's queue pair; the sequence number is ignored
 * @param retries the number of retries of the queue pairs
 * @param acknowledgeTimeout the timeout of the queue pairs, as in {@link RequestedPath}
 * @param privateData the private data, including the {@link PrivateDataHeader}
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
