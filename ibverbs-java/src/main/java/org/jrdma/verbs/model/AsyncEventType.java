package org.jrdma.verbs.model;

/** What happened. In C: {@code enum ibv_event_type}, {@code ibv_event_type_str}. */
public enum AsyncEventType {
    /** A completion queue overran; its queue pairs are of no more use. */
    COMPLETION_QUEUE_ERROR(Subject.OBJECT),
    /** A queue pair failed beyond repair. */
    QUEUE_PAIR_FATAL(Subject.OBJECT),
    /** A peer sent a request that made no sense. */
    QUEUE_PAIR_REQUEST_ERROR(Subject.OBJECT),
    /** A peer tried what its keys do not allow. */
    QUEUE_PAIR_ACCESS_ERROR(Subject.OBJECT),
    /** The first packet arrived at a queue pair that is ready to receive. */
    COMMUNICATION_ESTABLISHED(Subject.OBJECT),
    /** A send queue has drained. */
    SEND_QUEUE_DRAINED(Subject.OBJECT),
    /** The second path took over. */
    PATH_MIGRATED(Subject.OBJECT),
    /** The second path did not take over. */
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
    /** Another subnet manager took over. */
    SUBNET_MANAGER_CHANGE(Subject.PORT),
    /** A shared receive queue failed. */
    SHARED_RECEIVE_QUEUE_ERROR(Subject.OBJECT),
    /** A shared receive queue has fewer receives than its limit. */
    SHARED_RECEIVE_QUEUE_LIMIT_REACHED(Subject.OBJECT),
    /** A queue pair in error took its last receive from a shared queue. */
    LAST_WORK_REQUEST_REACHED(Subject.OBJECT),
    /** Clients must register with the subnet manager again. */
    CLIENT_REREGISTER(Subject.PORT),
    /** A port's GID table changed. */
    GID_CHANGE(Subject.PORT),
    /** A work queue failed. */
    WORK_QUEUE_FATAL(Subject.OBJECT),
    /** A port's speed changed. */
    SPEED_CHANGE(Subject.PORT),
    /** A number that this version does not know. */
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
