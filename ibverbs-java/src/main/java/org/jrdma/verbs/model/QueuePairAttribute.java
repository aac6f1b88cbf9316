package org.jrdma.verbs.model;

import org.jrdma.verbs.QueuePair;

/**
 * An attribute of a queue pair that {@link QueuePair#modify} can change. In C: {@code enum
 * ibv_qp_attr_mask}.
 */
public enum QueuePairAttribute {
    /** The state to which the queue pair is moved. */
    STATE,
    /** The state in which the caller expects the queue pair to be. */
    CURRENT_STATE,
    /** Whether the device raises an event when the send queue has drained. */
    DRAIN_NOTIFICATION,
    /** The access rights of the peer. */
    ACCESS,
    /** The index of the P_Key in the partition table of the port. */
    PARTITION_KEY_INDEX,
    /** The number of the device port. */
    PORT,
    /** The queue key that received datagrams must contain. */
    QUEUE_KEY,
    /** The path to the peer. In C: {@code IBV_QP_AV}. */
    ADDRESS,
    /** The maximum payload of a packet. */
    PATH_MTU,
    /** The time after which unacknowledged packets are sent again. */
    TIMEOUT,
    /** The maximum number of retries after an acknowledgement timeout. */
    RETRIES,
    /** The maximum number of retries of a message for which the peer has no receive. */
    RECEIVER_NOT_READY_RETRIES,
    /** The sequence number of the first packet to receive. */
    RECEIVE_SEQUENCE,
    /**
     * The maximum number of reads and atomics that the queue pair can have in flight as requester.
     */
    MAX_READS,
    /** The alternate path to the peer. */
    ALTERNATE_PATH,
    /**
     * The time that the peer must wait before it retries a message for which this side had no
     * receive.
     */
    RECEIVER_NOT_READY_TIMER,
    /** The sequence number of the first packet to send. */
    SEND_SEQUENCE,
    /**
     * The maximum number of reads and atomics from the peer that the queue pair processes
     * concurrently.
     */
    MAX_DESTINATION_READS,
    /** The path migration state. */
    PATH_MIGRATION_STATE,
    /** The capacities of the send queue and the receive queue. */
    CAPACITIES,
    /** The queue pair number of the peer. */
    DESTINATION_NUMBER,
    /** The maximum sending rate in kbit/s. */
    RATE_LIMIT
}
