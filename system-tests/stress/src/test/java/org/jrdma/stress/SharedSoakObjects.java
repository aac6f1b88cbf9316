package org.jrdma.stress;

import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.random.RandomGenerator;
import org.jrdma.benchmarks.NullProvider;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.DeviceOpenOption;

/**
 * The objects that all threads of the soak test share. A thread that finds a closed object replaces
 * it, so that there is always an object to use and to close.
 */
final class SharedSoakObjects {

    static final int REGION_BYTES = 4096;

    private static final int DEVICES = 2;

    private final Verbs verbs;
    private final AtomicReferenceArray<Objects> devices = new AtomicReferenceArray<>(DEVICES);

    SharedSoakObjects(Verbs verbs) {
        this.verbs = verbs;
    }

    /** A device and its objects. Threads replace each reference atomically, without a lock. */
    static final class Objects {
        final Device device;
        volatile ProtectionDomain domain;
        volatile RegisteredArena arena;
        volatile MemoryRegion region;
        volatile CompletionQueue completions;
        volatile CompletionDispatcher dispatcher;
        volatile PolledQueuePair polled;
        volatile AsyncQueuePair dispatched;

        Objects(Device device) throws FabricException {
            this.device = device;
            this.domain = device.newProtectionDomain();
            this.arena = domain.newArena(LOCAL_WRITE, REMOTE_WRITE);
            this.region = arena.region(REGION_BYTES);
            this.completions = device.newCompletionQueue(queueOptions());
            this.dispatcher = device.newCompletionDispatcher(64);
            this.polled = connected(domain, completions);
            this.dispatched = connected(domain, dispatcher);
        }

        /** Replaces each closed object by a new object. */
        void repair() throws FabricException {
            if (!domain.isOpen()) {
                domain = device.newProtectionDomain();
            }
            if (!arena.isOpen()) {
                arena = domain.newArena(LOCAL_WRITE, REMOTE_WRITE);
            }
            if (!region.isOpen()) {
                region = arena.region(REGION_BYTES);
            }
            if (!completions.isOpen()) {
                completions = device.newCompletionQueue(queueOptions());
            }
            if (!dispatcher.isOpen()) {
                dispatcher = device.newCompletionDispatcher(64);
            }
            if (!polled.isOpen()) {
                polled = connected(domain, completions);
            }
            if (!dispatched.isOpen()) {
                dispatched = connected(domain, dispatcher);
            }
        }

        NativeObject any(RandomGenerator random) {
            return switch (random.nextInt(24)) {
                case 0 -> device;
                case 1 -> domain;
                case 2, 3 -> arena;
                case 4, 5, 6 -> completions;
                case 7, 8, 9 -> dispatcher;
                case 10, 11, 12, 13 -> polled;
                case 14, 15, 16, 17 -> dispatched;
                default -> region;
            };
        }

        private static CompletionQueueOptions queueOptions() {
            return CompletionQueueOptions.capacity(64).waitable();
        }

        /**
         * Creates and connects a queue pair. The completion queue has capacity for several queue
         * pairs, because two threads may replace a closed queue pair at the same time.
         */
        static PolledQueuePair connected(ProtectionDomain domain, CompletionQueue completions)
                throws FabricException {
            var pair =
                    domain.newQueuePair(reliable(completions).sends(8).receives(8).inlineBytes(64));
            pair.connect(pair.endpoint());
            return pair;
        }

        private static AsyncQueuePair connected(
                ProtectionDomain domain, CompletionDispatcher dispatcher) throws FabricException {
            var pair =
                    domain.newQueuePair(
                            reliable(dispatcher)
                                    .sends(4)
                                    .receives(4)
                                    .slotTimeout(RandomUseSoakWorker.SHORT)
                                    .inlineBytes(64));
            pair.connect(pair.endpoint());
            return pair;
        }
    }

    /**
     * Returns a device with its objects, after replacing those that are closed. Another thread may
     * close an object again before the caller uses it.
     */
    Objects objects(RandomGenerator random) throws FabricException {
        var index = random.nextInt(DEVICES);
        var objects = devices.get(index);
        if (objects == null || !objects.device.isOpen()) {
            var created =
                    new Objects(
                            random.nextBoolean()
                                    ? verbs.open(
                                            NullProvider.DEVICE, DeviceOpenOption.CRITICAL_CALLS)
                                    : verbs.open(NullProvider.DEVICE));
            if (devices.compareAndSet(index, objects, created)) {
                return created;
            }
            created.device.close();
            return devices.get(index);
        }
        objects.repair();
        return objects;
    }

    void close() {
        for (var index = 0; index < DEVICES; index++) {
            var objects = devices.get(index);
            if (objects != null) {
                objects.device.close();
            }
        }
    }
}
