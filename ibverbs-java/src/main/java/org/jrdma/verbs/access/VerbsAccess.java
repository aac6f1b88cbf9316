package org.jrdma.verbs.access;

import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.handle.AccessInitializer;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Gives the other packages of this module access to non-public members of {@code org.jrdma.verbs}.
 */
public abstract class VerbsAccess {

    private static @Nullable VerbsAccess registered;

    /**
     * Initializes {@link Verbs}, which registers its implementation, when the accessor is first
     * used.
     */
    private static final class Holder {
        static final VerbsAccess ACCESS = AccessInitializer.of(Verbs.class, () -> registered);
    }

    protected VerbsAccess() {}

    /** Registers the implementation. Called by the static initializer of {@link Verbs}. */
    public static void open(VerbsAccess access) {
        registered = access;
    }

    public static VerbsAccess get() {
        return Holder.ACCESS;
    }

    /** Creates a queue pair for a port, regardless of the port in the options. */
    public abstract <Q extends QueuePair> Q newQueuePair(
            ProtectionDomain domain, QueuePairOptions<Q> options, int port) throws VerbsException;
}
