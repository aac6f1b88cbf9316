package org.jrdma.verbs.model;

import org.jrdma.verbs.QueuePair;

/**
 * An attribute of a queue pair that {@link QueuePair#modify} can change. In C: {@code enum
 * ibv_qp_attr_mask}.
 */
public enum QueuePairAttribute {
    /** The state to go to. */
    STATE,
    /** The state that the caller believes it to be in. */
    CURRENT_STATE,
    /** Whether an event reports that the send queue has drained. */
    DRAIN_NOTIFICATION,
    /** The access rights of the peer. */
    ACCESS,
    /** The row of the port's partition table. */
    PARTITION_KEY_INDEX,
    /** The port. */
    PORT,
    /** The key that datagrams must carry. */
    QUEUE_KEY,
    /** The peer's address and the way there. In C: AV. */
    ADDRESS,
    /** The largest payload of a packet. */
    PATH_MTU,
    /** How long to wait for an answer. */
    TIMEOUT,
    /** How often to repeat after a time-out. */
    RETRIES,
    /** How often to repeat when the peer has no receive. */
    RECEIVER_NOT_READY_RETRIES,
    /** The number of the first packet to come. */
    RECEIVE_SEQUENCE,
    /** How many reads and atomics to have under way. */
    MAX_READS,
    /** The second path. */
    ALTERNATE_PATH,
    /** How long a peer is told to wait when there is no receive. */
    RECEIVER_NOT_READY_TIMER,
    /** The number of the first packet to send. */
    SEND_SEQUENCE,
    /** The number of incoming reads and atomics to answer at a time. */
    MAX_DESTINATION_READS,
    /** Which of two paths is used. */
    PATH_MIGRATION_STATE,
    /** The room for requests. */
    CAPACITIES,
    /** The peer's queue pair. */
    DESTINATION_NUMBER,
    /** The most to send, in kbit/s. */
    RATE_LIMIT
}
