package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;

/**
 * A notification of a change of a reservation: the log page of the same name.
 *
 * @param count the number of the notification, from 1; 0 if there is none
 * @param type the change, such as {@link #RESERVATION_RELEASED}; 0 if there is none
 * @param available the number of further notifications, up to 255
 * @param namespace the id of the namespace
 */
public record ReservationNotification(long count, int type, int available, int namespace) {

    /** The type of a notification that another host removed the registration of this host. */
    public static final int REGISTRATION_PREEMPTED = 1;

    /** The type of a notification that the reservation was released. */
    public static final int RESERVATION_RELEASED = 2;

    /** The type of a notification that all registrations were cleared. */
    public static final int RESERVATION_PREEMPTED = 3;

    /** The size of the log page in bytes. */
    public static final int BYTES = 64;

    /** Decodes the log page. */
    public static ReservationNotification decode(MemorySegment data) {
        return new ReservationNotification(
                data.get(Fields.LONG, 0),
                Fields.unsignedByte(data, 8),
                Fields.unsignedByte(data, 9),
                data.get(Fields.INT, 12));
    }

    /** Encodes the log page into zeroed memory. */
    public void encode(MemorySegment data) {
        data.set(Fields.LONG, 0, count);
        Fields.putByte(data, 8, type);
        Fields.putByte(data, 9, available);
        data.set(Fields.INT, 12, namespace);
    }
}
