package org.jrdma.verbs;

/**
 * How a completion queue is made.
 *
 * @param capacity how many completions it must have room for; the device may give it more
 * @param withEvents whether {@link CompletionCursor#await} can be used, which takes a completion
 *     channel
 * @param solicitedOnly whether only failures and messages that their sender marked as solicited
 *     wake a waiter
 * @param vector the completion vector, below {@link Device#completionVectors()}
 */
public record CompletionQueueOptions(
        int capacity, boolean withEvents, boolean solicitedOnly, int vector) {

    /** Refuses numbers that no device could take. */
    public CompletionQueueOptions {
        if (capacity < 1) {
            throw new IllegalArgumentException(
                    "A completion queue has room for at least one: " + capacity);
        }
        if (vector < 0) {
            throw new IllegalArgumentException("Completion vectors count from 0: " + vector);
        }
    }

    /** A queue that is polled, without events, on vector 0. */
    public static CompletionQueueOptions capacity(int capacity) {
        return new CompletionQueueOptions(capacity, false, false, 0);
    }

    /** The same, and it can be waited for. In C: {@code ibv_create_comp_channel}. */
    public CompletionQueueOptions waitable() {
        return new CompletionQueueOptions(capacity, true, solicitedOnly, vector);
    }

    /** The same, woken only by failures and by messages marked as solicited. */
    public CompletionQueueOptions waitableForSolicited() {
        return new CompletionQueueOptions(capacity, true, true, vector);
    }

    /** The same, on another completion vector. */
    public CompletionQueueOptions onVector(int number) {
        return new CompletionQueueOptions(capacity, withEvents, solicitedOnly, number);
    }
}
