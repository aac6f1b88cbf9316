package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

/** Checks the {@code flags} arguments of SISCI functions. */
public final class FlagChecks {

    private FlagChecks() {}

    public static boolean has(int flags, int flag) {
        return (flags & flag) == flag;
    }

    /** Fails if {@code flags} contains a flag that is not allowed. */
    public static void checkAllowed(int flags, int allowed) {
        throwIf((flags & ~allowed) != 0, SCI_ERR_ILLEGAL_FLAG());
    }

    public static void checkNone(int flags) {
        checkAllowed(flags, 0);
    }
}
