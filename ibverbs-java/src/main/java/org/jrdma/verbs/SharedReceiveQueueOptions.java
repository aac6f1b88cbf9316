package org.jrdma.verbs;

import java.time.Duration;
import java.util.Objects;
import org.jrdma.ffi.CheckReturnValue;

/** Options of a shared receive queue. Immutable: each method returns a changed copy. */
@CheckReturnValue
public final class SharedReceiveQueueOptions {

    final int capacity;
    final int elements;
    final Duration slotTimeout;

    private SharedReceiveQueueOptions(int capacity, int elements, Duration slotTimeout) {
        this.capacity = capacity;
        this.elements = elements;
        this.slotTimeout = Objects.requireNonNull(slotTimeout);
    }

    /**
     * Returns options of a queue whose receives have one memory slice.
     *
     * @param receives the number of receives that the queue must be able to hold
     */
    public static SharedReceiveQueueOptions capacity(int receives) {
        return new SharedReceiveQueueOptions(receives, 1, Duration.ofSeconds(10));
    }

    /** Sets the maximum number of memory slices of a receive; 1 by default. */
    public SharedReceiveQueueOptions elements(int count) {
        return new SharedReceiveQueueOptions(capacity, count, slotTimeout);
    }

    /**
     * Sets the maximum time that an asynchronous receive waits for a free slot; 10 seconds by
     * default. Has no effect on polled queues.
     */
    public SharedReceiveQueueOptions slotTimeout(Duration timeout) {
        return new SharedReceiveQueueOptions(capacity, elements, timeout);
    }
}
