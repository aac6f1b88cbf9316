package org.jrdma.verbs.model;

/** Something that a device can do. In C: {@code enum ibv_device_cap_flags}. */
public enum DeviceCapability {
    /** A queue pair's room can be changed. */
    RESIZE_QUEUES,
    /** Bad partition keys are counted. */
    BAD_PARTITION_KEY_COUNTER,
    /** Bad queue keys are counted. */
    BAD_QUEUE_KEY_COUNTER,
    /** Raw multicast. */
    RAW_MULTICAST,
    /** A second path takes over by itself. */
    AUTOMATIC_PATH_MIGRATION,
    /** A queue pair's port can be changed. */
    CHANGE_PORT,
    /** The port of an unreliable datagram's address is enforced. */
    ADDRESS_VECTOR_PORT_ENFORCED,
    /** The current state can be named when a queue pair is modified. */
    CURRENT_STATE_MODIFIER,
    /** A port can be shut down. */
    SHUTDOWN_PORT,
    /** The type of a port's initialisation can be set. */
    INITIALISATION_TYPE,
    /** An event tells that a port became active. */
    PORT_ACTIVE_EVENT,
    /** There is a GUID for the whole system. */
    SYSTEM_IMAGE_GUID,
    /** A reliable queue pair without a receive says so to its peer. */
    RECEIVER_NOT_READY_ANSWERS,
    /** Shared receive queues can be resized. */
    RESIZE_SHARED_RECEIVE_QUEUE,
    /** A completion queue can tell after several completions. */
    NOTIFY_AFTER_SEVERAL,
    /** Memory windows. */
    MEMORY_WINDOW,
    /** Checksums of datagrams are computed. */
    DATAGRAM_CHECKSUM,
    /** Extended reliable connections. */
    EXTENDED_RELIABLE_CONNECTION,
    /** Send with invalidate, local invalidate, fast registration. */
    MEMORY_MANAGEMENT_EXTENSIONS,
    /** Memory windows of type 2A. */
    MEMORY_WINDOW_TYPE_2A,
    /** Memory windows of type 2B. */
    MEMORY_WINDOW_TYPE_2B,
    /** Checksums of reliable connections are computed. */
    RELIABLE_CONNECTION_CHECKSUM,
    /** Checksums of raw packets are computed. */
    RAW_CHECKSUM,
    /** Flow steering. */
    MANAGED_FLOW_STEERING
}
