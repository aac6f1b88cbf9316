package org.jrdma.verbs.model;

/**
 * The type of an asynchronous event. In C: {@code enum ibv_event_type}, {@code ibv_event_type_str}.
 */
public enum AsyncEventType {
    /** A completion queue overran. The queue pairs that complete into it can no longer be used. */
    COMPLETION_QUEUE_ERROR(Subject.OBJECT),
    /** A queue pair failed and cannot recover. */
    QUEUE_PAIR_FATAL(Subject.OBJECT),
    /** A queue pair received an invalid request from its peer. */
    QUEUE_PAIR_REQUEST_ERROR(Subject.OBJECT),
    /**
     * A queue pair received a request from its peer for an access that the key in the request does
     * not permit.
     */
    QUEUE_PAIR_ACCESS_ERROR(Subject.OBJECT),
    /** The first packet arrived at a queue pair that is ready to receive. */
    COMMUNICATION_ESTABLISHED(Subject.OBJECT),
    /**
     * A queue pair in the state {@link QueuePairState#SEND_QUEUE_DRAINED} has completed its last
     * send request in progress.
     */
    SEND_QUEUE_DRAINED(Subject.OBJECT),
    /** A queue pair switched to its alternate path. */
    PATH_MIGRATED(Subject.OBJECT),
    /** A queue pair failed to switch to its alternate path. */
    PATH_MIGRATION_ERROR(Subject.OBJECT),
    /** The device failed. */
    DEVICE_FATAL(Subject.DEVICE),
    /** A port became active. */
    PORT_ACTIVE(Subject.PORT),
    /** A port went down. */
    PORT_ERROR(Subject.PORT),
    /** A port's LID changed. */
    LID_CHANGE(Subject.PORT),
    /** A port's partition table changed. */
    PARTITION_KEY_CHANGE(Subject.PORT),
    /** The port has a new subnet manager. */
    SUBNET_MANAGER_CHANGE(Subject.PORT),
    /** A shared receive queue failed. */
    SHARED_RECEIVE_QUEUE_ERROR(Subject.OBJECT),
    /** The number of receives in a shared receive queue fell below its limit. */
    SHARED_RECEIVE_QUEUE_LIMIT_REACHED(Subject.OBJECT),
    /**
     * A queue pair in the error state will not consume any more receives of its shared receive
     * queue.
     */
    LAST_WORK_REQUEST_REACHED(Subject.OBJECT),
    /**
     * The subnet manager requests that programs register with it again, for example for multicast
     * groups.
     */
    CLIENT_REREGISTER(Subject.PORT),
    /** A port's GID table changed. */
    GID_CHANGE(Subject.PORT),
    /** A work queue failed. */
    WORK_QUEUE_FATAL(Subject.OBJECT),
    /** A port's speed changed. */
    SPEED_CHANGE(Subject.PORT),
    /** An event type that this version of the SDK does not know. */
    UNKNOWN(Subject.DEVICE);

    /** The kind of object that an event concerns. */
    public enum Subject {
        /** A port of the device. */
        PORT,
        /** The device as a whole. */
        DEVICE,
        /** A completion queue, queue pair or shared receive queue of the device. */
        OBJECT
    }

    private final Subject subject;

    AsyncEventType(Subject subject) {
        this.subject = subject;
    }

    /** The kind of object that the event concerns. */
    public Subject subject() {
        return subject;
    }
}
