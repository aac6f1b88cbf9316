package org.jrdma.nvme.model;

import java.util.Arrays;
import java.util.Optional;

/** The types of reservations. */
public enum ReservationType {
    /** Only the holder writes. */
    WRITE_EXCLUSIVE(1, Group.HOLDER, true),
    /** Only the holder reads and writes. */
    EXCLUSIVE_ACCESS(2, Group.HOLDER, false),
    /** Only registrants write. */
    WRITE_EXCLUSIVE_REGISTRANTS_ONLY(3, Group.REGISTRANTS, true),
    /** Only registrants read and write. */
    EXCLUSIVE_ACCESS_REGISTRANTS_ONLY(4, Group.REGISTRANTS, false),
    /** Only registrants write, and all of them are holders. */
    WRITE_EXCLUSIVE_ALL_REGISTRANTS(5, Group.HOLDERS, true),
    /** Only registrants read and write, and all of them are holders. */
    EXCLUSIVE_ACCESS_ALL_REGISTRANTS(6, Group.HOLDERS, false);

    /** The hosts with full access. */
    private enum Group {
        HOLDER,
        REGISTRANTS,
        HOLDERS
    }

    private final int code;
    private final Group group;
    private final boolean othersRead;

    ReservationType(int code, Group group, boolean othersRead) {
        this.code = code;
        this.group = group;
        this.othersRead = othersRead;
    }

    /** Returns the code of this type in commands and in the report, from 1. */
    public int code() {
        return code;
    }

    /** Returns the type with a code; empty if there is none. */
    public static Optional<ReservationType> of(int code) {
        return Arrays.stream(values()).filter(type -> type.code == code).findFirst();
    }

    /** Returns true if every registrant is a holder. */
    public boolean isHeldByAllRegistrants() {
        return group == Group.HOLDERS;
    }

    /** Returns true if registrants that are not the holder have the access of the holder. */
    public boolean isSharedByRegistrants() {
        return group != Group.HOLDER;
    }

    /** Returns true if hosts without full access may read. */
    public boolean othersMayRead() {
        return othersRead;
    }
}
