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
        MemorySegment privateData) {

    /**
     * Creates the connect request for these options.
     *
     * @param timeout the time within which each side must answer: 4.096 us times 2 to this power
     * @param repeats the maximum number of times that each side repeats a message
     */
    ConnectRequest request(
            int localId, int sequence, long adapter, RequestedPath path, int timeout, int repeats) {
        return new ConnectRequest(
                Integer.toUnsignedLong(localId),
                localId,
                serviceId,
                adapter,
                offer.from(sequence),
                transport,
                retries,
                partitionKey,
                timeout,
                timeout,
                repeats,
                path,
                privateData);
    }
}
