package org.jrdma.soft.sisci.fabric;

/**
 * The error codes whose values are not public. The values of this class are arbitrary, so that only
 * a program that reads them from the exported constants uses the right ones.
 */
public final class UnpublishedErrors {

    /** The fabric has no device with this id. */
    public static final int NO_SUCH_FDID = 0x4051_F1D0;

    private UnpublishedErrors() {}
}
