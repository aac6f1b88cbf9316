package org.jrdma.nvme.model;

/** The identifiers of features. */
public final class FeatureId {

    /** Arbitration of queues. */
    public static final int ARBITRATION = 0x01;

    /** Power management. */
    public static final int POWER_MANAGEMENT = 0x02;

    /** The temperature at which the controller reports an event. */
    public static final int TEMPERATURE_THRESHOLD = 0x04;

    /** Error recovery of a namespace. */
    public static final int ERROR_RECOVERY = 0x05;

    /** The volatile write cache. */
    public static final int VOLATILE_WRITE_CACHE = 0x06;

    /** The number of I/O queues. */
    public static final int NUMBER_OF_QUEUES = 0x07;

    /** Interrupt coalescing. */
    public static final int INTERRUPT_COALESCING = 0x08;

    /** The configuration of an interrupt vector. */
    public static final int INTERRUPT_VECTOR = 0x09;

    /** Write atomicity. */
    public static final int WRITE_ATOMICITY = 0x0a;

    /** The events that the controller reports. */
    public static final int ASYNC_EVENT_CONFIGURATION = 0x0b;

    /** The identifier of the host, by which reservations distinguish hosts. */
    public static final int HOST_IDENTIFIER = 0x81;

    /** The mask of notifications of reservations of a namespace. */
    public static final int RESERVATION_NOTIFICATION_MASK = 0x82;

    /** Persistence of the reservations of a namespace through a loss of power. */
    public static final int RESERVATION_PERSISTENCE = 0x83;

    private FeatureId() {}
}
