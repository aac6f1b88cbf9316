package org.jrdma.verbs.model;

import java.util.Optional;
import java.util.Set;

/**
 * The attributes of a queue pair, as the device reports them. In C: {@code struct ibv_qp_attr}.
 *
 * @param state the state
 * @param pathMtu the maximum payload of a packet; empty before the queue pair is connected
 * @param migrationState the path migration state
 * @param receiveSequence the sequence number of the next packet to receive
 * @param sendSequence the sequence number of the next packet to send
 * @param destinationNumber the queue pair number of the peer
 * @param access the access rights of the peer
 * @param address the path to the peer
 * @param alternatePath the alternate path to the peer, if there is one
 * @param partitionKeyIndex the index into the port's partition table
 * @param queueKey the key that datagrams must carry; meaningless for connections
 * @param port the port
 * @param maxReads the maximum number of reads and atomics in flight
 * @param maxDestinationReads the maximum number of reads and atomics from the peer that are
 *     processed concurrently
 * @param receiverNotReadyTimer the time that the peer must wait if no receive is posted, in the
 *     specification's encoding
 * @param timeout the acknowledgement timeout, as an exponent
 * @param retries the number of retries after a timeout
 * @param receiverNotReadyRetries the number of retries if the peer has no receive posted
 * @param sends the capacity of the send queue in requests
 * @param receives the capacity of the receive queue in requests
 * @param sendElements the maximum number of gather elements in a send request
 * @param receiveElements the maximum number of scatter elements in a receive
 * @param inlineBytes the maximum number of bytes of inline data
 */
public record QueuePairAttributes(
        QueuePairState state,
        Optional<Mtu> pathMtu,
        MigrationState migrationState,
        int receiveSequence,
        int sendSequence,
        int destinationNumber,
        Set<Access> access,
        AddressVector address,
        Optional<AlternatePath> alternatePath,
        int partitionKeyIndex,
        int queueKey,
        int port,
        int maxReads,
        int maxDestinationReads,
        int receiverNotReadyTimer,
        int timeout,
        int retries,
        int receiverNotReadyRetries,
        int sends,
        int receives,
        int sendElements,
        int receiveElements,
        int inlineBytes) {}
