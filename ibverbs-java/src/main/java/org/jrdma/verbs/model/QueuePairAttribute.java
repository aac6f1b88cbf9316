package org.jrdma.verbs.model;

import org.jrdma.verbs.QueuePair;

/**
 * An attribute of a queue pair that {@link QueuePair#modify} can change. In C: {@code enum
 * ibv_qp_attr_mask}.
 */
public enum QueuePairAttribute {
    /** The state to change to. */
    STATE,
    /** The state in which the caller expects the queue pair to be. */
    CURRENT_STATE,
    /** The option to report by an event that the send queue has drained. */
    DRAIN_NOTIFICATION,
    /** The access rights of the peer. */
    ACCESS,
    /** The index into the port's partition table. */
    PARTITION_KEY_INDEX,
    /** The port. */
    PORT,
    /** The key that datagrams must carry. */
    QUEUE_KEY,
    /** The path to the peer. In C: AV. */
    ADDRESS,
    /** The maximum payload of a packet. */
    PATH_MTU,
    /** The acknowledgement timeout. */
    TIMEOUT,
    /** The number of retries after a timeout. */
    RETRIES,
    /** The number of retries if the peer has no receive posted. */
    RECEIVER_NOT_READY_RETRIES,
    /** The sequence number of the first packet to receive. */
    RECEIVE_SEQUENCE,
    /** The maximum number of reads and atomics in flight. */
    MAX_READS,
    /** The alternate path to the peer. */
    ALTERNATE_PATH,
    /** The time that the peer must wait if no receive is posted. */
    RECEIVER_NOT_READY_TIMER,
    /** The sequence number of the first packet to send. */
    SEND_SEQUENCE,
    /** The maximum number of reads and atomics from the peer to process concurrently. */
    MAX_DESTINATION_READS,
    /** The path migration state. */
    PATH_MIGRATION_STATE,
    /** The sizes of the queues. */
    CAPACITIES,
    /** The queue pair number of the peer. */
    DESTINATION_NUMBER,
    /** The maximum sending rate in kbit/s. */
    RATE_LIMIT
}
