package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

/** Tests of the flag words of SISCI. */
public final class Flags {

    private Flags() {}

    public static boolean has(int flags, int flag) {
        return (flags & flag) == flag;
    }

    /** Fails if a flag word contains others than the allowed flags. */
    public static void checkAllowed(int flags, int allowed) {
        throwIf((flags & ~allowed) != 0, SCI_ERR_ILLEGAL_FLAG());
    }

    public static void checkNone(int flags) {
        checkAllowed(flags, 0);
    }
}
