package org.jrdma.verbs.model;

/** An optional feature of a device. In C: {@code enum ibv_device_cap_flags}. */
public enum DeviceCapability {
    /** The queues of a queue pair can be resized. */
    RESIZE_QUEUES,
    /** Bad partition keys are counted. */
    BAD_PARTITION_KEY_COUNTER,
    /** Bad queue keys are counted. */
    BAD_QUEUE_KEY_COUNTER,
    /** Raw multicast. */
    RAW_MULTICAST,
    /** Queue pairs switch to their alternate path automatically. */
    AUTOMATIC_PATH_MIGRATION,
    /** A queue pair's port can be changed. */
    CHANGE_PORT,
    /** The port in the address handle of a datagram is enforced. */
    ADDRESS_VECTOR_PORT_ENFORCED,
    /** A modification of a queue pair can name the queue pair's current state. */
    CURRENT_STATE_MODIFIER,
    /** A port can be shut down. */
    SHUTDOWN_PORT,
    /** The type of a port's initialization can be set. */
    INITIALIZATION_TYPE,
    /** An event reports that a port became active. */
    PORT_ACTIVE_EVENT,
    /** The system that contains the device has a GUID. */
    SYSTEM_IMAGE_GUID,
    /** A reliable queue pair without a receive sends a receiver-not-ready NAK to its peer. */
    RECEIVER_NOT_READY_NAK,
    /** Shared receive queues can be resized. */
    RESIZE_SHARED_RECEIVE_QUEUE,
    /** A completion queue can notify after several completions. */
    NOTIFY_AFTER_SEVERAL,
    /** Memory windows. */
    MEMORY_WINDOW,
    /** Checksum offload for datagrams. */
    DATAGRAM_CHECKSUM,
    /** Extended reliable connections. */
    EXTENDED_RELIABLE_CONNECTION,
    /** Send with invalidate, local invalidate, fast registration. */
    MEMORY_MANAGEMENT_EXTENSIONS,
    /** Memory windows of type 2A. */
    MEMORY_WINDOW_TYPE_2A,
    /** Memory windows of type 2B. */
    MEMORY_WINDOW_TYPE_2B,
    /** Checksum offload for reliable connections. */
    RELIABLE_CONNECTION_CHECKSUM,
    /** Checksum offload for raw packets. */
    RAW_CHECKSUM,
    /** Flow steering. */
    MANAGED_FLOW_STEERING
}
