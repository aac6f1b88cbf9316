package org.jrdma.verbs.flow.access;

import org.jrdma.verbs.flow.Flow;
import org.jrdma.verbs.flow.FlowCounters;
import org.jrdma.verbs.flow.FlowRule;
import org.jrdma.verbs.handle.AccessInitializer;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Gives the other packages of this module access to non-public members of {@code
 * org.jrdma.verbs.flow}.
 */
public abstract class FlowPackageInternals {

    private static @Nullable FlowPackageInternals registered;

    /**
     * Initializes {@link FlowCounters} when the accessor is first used. The static initializer of
     * {@link FlowCounters} calls {@link #open}.
     */
    private static final class Holder {
        static final FlowPackageInternals ACCESS =
                AccessInitializer.of(FlowCounters.class, () -> registered);
    }

    protected FlowPackageInternals() {}

    /** Registers the implementation. Called by the static initializer of {@link FlowCounters}. */
    public static void open(FlowPackageInternals access) {
        registered = access;
    }

    public static FlowPackageInternals get() {
        return Holder.ACCESS;
    }

    public abstract FlowCounters counters(DeviceHandle device) throws VerbsException;

    public abstract Flow flow(
            DeviceHandle device, NativeResource queuePair, int port, FlowRule rule)
            throws VerbsException;
}
