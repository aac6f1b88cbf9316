package org.jrdma.nvme.model;

/** The fields of dword 10 of the reservation commands. */
public final class ReservationAction {

    /** Registers the new key of a host (RREGA). */
    public static final int REGISTER = 0;

    /** Removes the registration of a host (RREGA). */
    public static final int UNREGISTER = 1;

    /** Replaces the key of a host (RREGA). */
    public static final int REPLACE = 2;

    /** Acquires the reservation (RACQA). */
    public static final int ACQUIRE = 0;

    /** Removes registrations of other hosts, and takes their reservation (RACQA). */
    public static final int PREEMPT = 1;

    /** Preempts, and aborts the pending commands of the removed hosts (RACQA). */
    public static final int PREEMPT_AND_ABORT = 2;

    /** Releases the reservation (RRELA). */
    public static final int RELEASE = 0;

    /** Releases the reservation and removes all registrations (RRELA). */
    public static final int CLEAR = 1;

    /** The bit of a command that ignores the current key of the host (IEKEY). */
    public static final int IGNORE_KEY = 1 << 3;

    private static final int ACTION_MASK = 7;
    private static final int TYPE_SHIFT = 8;
    private static final int TYPE_MASK = 0xff;

    private ReservationAction() {}

    /** Returns the action in dword 10. */
    public static int of(int dword10) {
        return dword10 & ACTION_MASK;
    }

    /** Returns the code of the reservation type in dword 10. */
    public static int typeCode(int dword10) {
        return dword10 >>> TYPE_SHIFT & TYPE_MASK;
    }

    /** Returns dword 10 with an action and a reservation type. */
    public static int encode(int action, ReservationType type) {
        return action | type.code() << TYPE_SHIFT;
    }
}
