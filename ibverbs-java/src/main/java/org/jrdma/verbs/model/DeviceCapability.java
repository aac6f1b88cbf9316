package org.jrdma.verbs.model;

/** An optional feature of a device. In C: {@code enum ibv_device_cap_flags}. */
public enum DeviceCapability {
    /** The send queue and the receive queue of a queue pair can be resized. */
    RESIZE_QUEUES,
    /** Ports count received packets with a wrong partition key. */
    BAD_PARTITION_KEY_COUNTER,
    /** Ports count received packets with a wrong queue key. */
    BAD_QUEUE_KEY_COUNTER,
    /** The device supports multicast for raw packets. */
    RAW_MULTICAST,
    /** Queue pairs can switch to their alternate path automatically if the primary path fails. */
    AUTOMATIC_PATH_MIGRATION,
    /** The port of a queue pair can be changed. */
    CHANGE_PORT,
    /**
     * The device checks that the port in the address handle of a datagram is the port of the queue
     * pair.
     */
    ADDRESS_VECTOR_PORT_ENFORCED,
    /**
     * A modification of a queue pair can specify the state in which the program expects the queue
     * pair to be.
     */
    CURRENT_STATE_MODIFIER,
    /** A port can be shut down. */
    SHUTDOWN_PORT,
    /** The type of initialization that a port requests from the subnet manager can be set. */
    INITIALIZATION_TYPE,
    /** The device raises an event when a port becomes active. */
    PORT_ACTIVE_EVENT,
    /** The device reports the GUID of the system that contains it. */
    SYSTEM_IMAGE_GUID,
    /**
     * If a message arrives at a reliable queue pair that has no receive, the queue pair sends a
     * receiver-not-ready NAK to its peer.
     */
    RECEIVER_NOT_READY_NAK,
    /** Shared receive queues can be resized. */
    RESIZE_SHARED_RECEIVE_QUEUE,
    /** A completion queue can raise an event after several completions. */
    NOTIFY_AFTER_SEVERAL,
    /** The device supports memory windows. */
    MEMORY_WINDOW,
    /** The device supports checksum offload for datagram queue pairs. */
    DATAGRAM_CHECKSUM,
    /** The device supports extended reliable connections (XRC). */
    EXTENDED_RELIABLE_CONNECTION,
    /** The device supports sends with invalidation, local invalidation and fast registration. */
    MEMORY_MANAGEMENT_EXTENSIONS,
    /** The device supports memory windows of type 2A. */
    MEMORY_WINDOW_TYPE_2A,
    /** The device supports memory windows of type 2B. */
    MEMORY_WINDOW_TYPE_2B,
    /** The device supports checksum offload for reliable queue pairs. */
    RELIABLE_CONNECTION_CHECKSUM,
    /**
     * The device supports checksum offload for raw packet queue pairs: it computes and verifies the
     * checksums of IPv4, TCP and UDP.
     */
    RAW_CHECKSUM,
    /** The device supports flow steering. */
    MANAGED_FLOW_STEERING
}
