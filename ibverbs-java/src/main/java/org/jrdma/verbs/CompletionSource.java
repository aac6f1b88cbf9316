package org.jrdma.verbs;

import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** A completion queue, whoever polls it: its room, and the work queues that complete into it. */
abstract sealed class CompletionSource<W extends WorkQueue> extends NativeObject
        permits CompletionQueue, CompletionDispatcher {

    private final Device device;
    private final NativeCompletionQueue nativeQueue;
    private final Attachments<W> attachments;

    /**
     * @param shared the device's shared receive queues that can complete here
     */
    CompletionSource(Device device, CompletionQueueOptions options, CompletionTable<W> shared)
            throws VerbsException {
        this(device, make(device, options), new Attachments<>(options.capacity(), shared));
    }

    private static NativeCompletionQueue make(Device device, CompletionQueueOptions options)
            throws VerbsException {
        var owners = options.parentDomain().stream().map(ProtectionDomain::ownLifetime).toList();
        if (options.parentDomain().filter(domain -> domain.device() != device).isPresent()) {
            throw new IllegalArgumentException(
                    "%s is not of %s".formatted(options.parentDomain().get(), device));
        }
        Lifetime.holdAll(owners);
        try {
            return device.inCall(() -> new NativeCompletionQueue(device, options));
        } finally {
            owners.forEach(Lifetime::release);
        }
    }

    private CompletionSource(
            Device device, NativeCompletionQueue nativeQueue, Attachments<W> attachments) {
        super(nativeQueue.address(), nativeQueue.lifetime());
        this.device = device;
        this.nativeQueue = nativeQueue;
        this.attachments = attachments;
        device.announce(this);
    }

    /** The work queues that complete into a queue, and the room that they leave. */
    static final class Attachments<W extends WorkQueue> {

        private final CompletionTable<W> table;
        private final Set<W> shared = ConcurrentHashMap.newKeySet();
        private final AtomicReference<@Nullable W> drained = new AtomicReference<>();
        private volatile int taken;
        private volatile int capacity;

        Attachments(int capacity, CompletionTable<W> shared) {
            this.capacity = capacity;
            this.table = new CompletionTable<>(shared);
        }

        CompletionTable<W> table() {
            return table;
        }

        /** The shared receive queues some of whose queue pairs complete their receives here. */
        Set<W> shared() {
            return shared;
        }

        int room() {
            return capacity - taken;
        }

        /** Takes room for so many requests. False if there is not so much. */
        synchronized boolean takeRoom(int requests, boolean evenWithoutRoom) {
            if (requests > room() && !evenWithoutRoom) {
                return false;
            }
            taken += requests;
            return true;
        }

        synchronized void returnRoom(int requests) {
            taken -= requests;
        }

        /** Takes room for a queue's requests. False if there is not so much. */
        boolean attach(W queue, boolean evenWithoutRoom) {
            if (!takeRoom(queue.capacity(), evenWithoutRoom)) {
                return false;
            }
            table.add(queue);
            return true;
        }

        void detach(W queue) {
            table.remove(queue);
            returnRoom(queue.capacity());
            returnSpare(queue);
        }

        synchronized void resize(int newCapacity, Object name, NativeCompletionQueue queue)
                throws VerbsException {
            if (newCapacity < Math.max(1, taken)) {
                throw new IllegalArgumentException(
                        String.format(
                                Locale.ROOT,
                                "%s has queue pairs for %,d requests, and cannot have room for %,d only",
                                name,
                                taken,
                                newCapacity));
            }
            queue.resize(newCapacity);
            capacity = newCapacity;
        }

        /** Takes the place that is kept for the marker of a {@code drain}; one at a time. */
        boolean takeSpare(W queue) {
            return drained.compareAndSet(null, queue);
        }

        /** Returns the place, if the queue has it: its end and its close may come together. */
        void returnSpare(W queue) {
            drained.compareAndSet(queue, null);
        }
    }

    /** The device it was made from. */
    public final Device device() {
        return device;
    }

    /** How many completions it has room for, as asked; the device may give it more. */
    public final int capacity() {
        return attachments.capacity;
    }

    /**
     * How many requests may still be given to queue pairs that complete here, so that none can
     * overrun it.
     */
    public final int room() {
        return attachments.room();
    }

    /**
     * Lets one event stand for several completions: whoever waits is woken when there are so many,
     * or when the first has waited so long; 0 of either means that it does not count. Of both, that
     * each completion wakes, as at first. In C: {@code ibv_modify_cq}.
     *
     * @param atMost in whole microseconds
     * @throws IllegalArgumentException if either is negative or above 65,535
     * @throws VerbsException if the device cannot, or not with these numbers
     */
    public final void moderate(int completions, Duration atMost) throws VerbsException {
        var microseconds = atMost.toNanos() / 1_000;
        if ((completions & ~0xffff) != 0 || (microseconds & ~0xffff) != 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "Events stand for 0 to 65,535 completions or microseconds, not %,d or %,d",
                            completions,
                            microseconds));
        }
        device.inCall(() -> {
            nativeQueue.moderate(completions, (int) microseconds);
            return this;
        });
    }

    final NativeCompletionQueue nativeQueue() {
        return nativeQueue;
    }

    final Attachments<W> attachments() {
        return attachments;
    }

    final Lifetime ownLifetime() {
        return lifetime();
    }
}
