package org.jrdma.verbs.flow.access;

import org.jrdma.verbs.flow.Flow;
import org.jrdma.verbs.flow.FlowCounters;
import org.jrdma.verbs.flow.FlowRule;
import org.jrdma.verbs.handle.AccessInitializer;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** Opens {@code org.jrdma.verbs.flow} to the other packages of this module. */
public abstract class FlowAccess {

    private static @Nullable FlowAccess opened;

    /** Loaded at the first use, when the package must open itself. */
    private static final class Loaded {
        static final FlowAccess ACCESS = AccessInitializer.of(FlowCounters.class, () -> opened);
    }

    protected FlowAccess() {}

    /** To be called by the opened package, when {@link FlowCounters} is initialized. */
    public static void open(FlowAccess access) {
        opened = access;
    }

    public static FlowAccess get() {
        return Loaded.ACCESS;
    }

    public abstract FlowCounters counters(DeviceHandle device) throws VerbsException;

    public abstract Flow flow(
            DeviceHandle device, NativeResource queuePair, int port, FlowRule rule)
            throws VerbsException;
}
