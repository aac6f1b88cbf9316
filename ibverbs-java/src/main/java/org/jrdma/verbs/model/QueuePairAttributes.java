package org.jrdma.verbs.model;

import java.util.Optional;
import java.util.Set;

/**
 * What the device says of a queue pair. In C: {@code struct ibv_qp_attr}.
 *
 * @param state what it does with requests
 * @param pathMtu the largest payload of a packet; empty before it is connected
 * @param migrationState which of two paths is used
 * @param receiveSequence the number of the next packet to come
 * @param sendSequence the number of the next packet to send
 * @param destinationNumber the peer's queue pair
 * @param access what a peer may do
 * @param address the way to the peer
 * @param alternatePath a second way to it; empty where it has none
 * @param partitionKeyIndex the row of the port's partition table
 * @param queueKey the key that datagrams must carry; of no meaning for connections
 * @param port the port
 * @param maxReads how many reads and atomics it has under way
 * @param maxDestinationReads how many of the peer's it answers at a time
 * @param receiverNotReadyTimer how long a peer is told to wait, in the specification's code
 * @param timeout how long it waits for an answer, as an exponent
 * @param retries how often it repeats after a time-out
 * @param receiverNotReadyRetries how often it repeats when the peer has no receive
 * @param sends the room for requests to send
 * @param receives the room for requests to receive
 * @param sendElements the pieces of memory in a request to send
 * @param receiveElements the pieces of memory in a receive
 * @param inlineBytes how much can be sent inline
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
