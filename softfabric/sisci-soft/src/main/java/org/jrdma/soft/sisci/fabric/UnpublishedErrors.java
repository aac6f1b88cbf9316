package org.jrdma.soft.sisci.fabric;

/**
 * The error codes whose values Dolphin has not published. This library uses arbitrary values, so
 * that only programs that read them from the exported constants work.
 */
public final class UnpublishedErrors {

    /** The fabric has no device with the given fabric device id. */
    public static final int NO_SUCH_FDID = 0x4051_F1D0;

    private UnpublishedErrors() {}
}
