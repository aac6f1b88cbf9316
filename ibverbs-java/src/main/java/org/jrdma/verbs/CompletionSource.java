package org.jrdma.verbs;

import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jspecify.annotations.Nullable;

/** A completion queue, whoever polls it: its room, and the work queues that complete into it. */
abstract sealed class CompletionSource<W extends WorkQueue> extends NativeObject
        permits CompletionQueue, CompletionDispatcher {

    private final Device device;
    private final NativeCompletionQueue nativeQueue;
    private final Attachments<W> attachments;

    CompletionSource(Device device, CompletionQueueOptions options) throws VerbsException {
        this(
                device,
                device.inCall(() -> new NativeCompletionQueue(device, options)),
                options.capacity());
    }

    private CompletionSource(Device device, NativeCompletionQueue nativeQueue, int capacity) {
        super(nativeQueue.address(), nativeQueue.lifetime());
        this.device = device;
        this.nativeQueue = nativeQueue;
        this.attachments = new Attachments<>(capacity);
        device.announce(this);
    }

    /** The work queues that complete into a queue, and the room that they leave. */
    static final class Attachments<W extends WorkQueue> {

        private final CompletionTable<W> table = new CompletionTable<>();
        private final AtomicReference<@Nullable W> drained = new AtomicReference<>();
        private volatile int taken;
        private volatile int capacity;

        Attachments(int capacity) {
            this.capacity = capacity;
        }

        CompletionTable<W> table() {
            return table;
        }

        int room() {
            return capacity - taken;
        }

        /** Takes room for a queue's requests. False if there is not so much. */
        synchronized boolean attach(W queue, boolean evenWithoutRoom) {
            if (queue.capacity() > room() && !evenWithoutRoom) {
                return false;
            }
            taken += queue.capacity();
            table.add(queue);
            return true;
        }

        synchronized void detach(W queue) {
            table.remove(queue);
            taken -= queue.capacity();
            returnSpare(queue);
        }

        synchronized void resize(int newCapacity, Object name, NativeCompletionQueue queue)
                throws VerbsException {
            if (newCapacity < Math.max(1, taken)) {
                throw new IllegalArgumentException(
                        "%s has queue pairs for %,d requests, and cannot have room for %,d only"
                                .formatted(name, taken, newCapacity));
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
