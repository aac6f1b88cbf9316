package org.jrdma.verbs.access;

import java.time.Duration;
import org.jrdma.verbs.AsyncSharedReceiveQueue;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledSharedReceiveQueue;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.handle.AccessInitializer;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.AsyncWorkQueue;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jrdma.verbs.queue.NativeQueuePair;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue.XrcBinding;
import org.jrdma.verbs.queue.PolledWorkQueue;
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

    public abstract DeviceHandle handle(Device device);

    public abstract DomainHandle handle(ProtectionDomain domain);

    public abstract NativeCompletionQueue<PolledWorkQueue> nativeQueue(CompletionQueue queue);

    public abstract NativeCompletionQueue<AsyncWorkQueue> nativeQueue(
            CompletionDispatcher dispatcher);

    public abstract PolledSharedReceiveQueue sharedReceiveQueue(
            DomainHandle domain, int capacity, int elements, XrcBinding<PolledWorkQueue> xrc)
            throws VerbsException;

    public abstract AsyncSharedReceiveQueue sharedReceiveQueue(
            DomainHandle domain,
            int capacity,
            int elements,
            Duration slotTimeout,
            XrcBinding<AsyncWorkQueue> xrc)
            throws VerbsException;

    /** Creates a queue pair for a port, regardless of the port in the options. */
    public abstract <Q extends QueuePair> Q newQueuePair(
            ProtectionDomain domain, QueuePairOptions<Q> options, int port) throws VerbsException;

    public abstract QueuePair.Handle handle(NativeQueuePair queuePair);
}
