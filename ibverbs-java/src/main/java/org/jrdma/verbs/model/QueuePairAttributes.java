package org.jrdma.verbs.model;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * The attributes of a queue pair, as the device reports them. In C: {@code struct ibv_qp_attr}.
 *
 * @param state the state of the queue pair
 * @param pathMtu the maximum payload of a packet; empty before the queue pair is connected
 * @param migrationState the path migration state
 * @param receiveSequence the sequence number of the next packet to receive
 * @param sendSequence the sequence number of the next packet to send
 * @param destinationNumber the remote queue pair number
 * @param access the access rights of the peer
 * @param address the path to the peer
 * @param alternatePath the alternate path to the peer; empty if none is set
 * @param partitionKeyIndex the index of the P_Key in the partition table of the port
 * @param queueKey the queue key that received datagrams must contain; undefined for connected queue
 *     pairs
 * @param port the number of the device port
 * @param maxReads the maximum number of reads and atomics that the queue pair can have in flight as
 *     requester
 * @param maxDestinationReads the maximum number of reads and atomics from the peer that are
 *     processed concurrently
 * @param receiverNotReadyTimer the time that the peer must wait before it retries a message for
 *     which this side had no receive
 * @param acknowledgeTimeout the acknowledgement timeout; {@link
 *     java.time.temporal.ChronoUnit#FOREVER} if it is disabled
 * @param retries the maximum number of retries after an acknowledgement timeout
 * @param receiverNotReadyRetries the maximum number of retries of a message for which the peer has
 *     no receive
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
        Duration receiverNotReadyTimer,
        Duration acknowledgeTimeout,
        int retries,
        int receiverNotReadyRetries,
        int sends,
        int receives,
        int sendElements,
        int receiveElements,
        int inlineBytes) {}
