package org.jrdma.sockets.rsocket;

import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The listening rsockets in which a thread is accepting.
 *
 * <p>The library reuses the number of a closed rsocket. A thread that still accepts at that number
 * would take the clients of the new listener, so a new listener waits until the thread has
 * returned. Safe for use by multiple threads.
 */
final class ActiveAccepts {

    private final Set<Integer> numbers = new HashSet<>();

    /** Records that the calling thread starts to accept; returns false if it must not. */
    synchronized boolean enter(int number, BooleanSupplier isOpen) {
        return isOpen.getAsBoolean() && numbers.add(number);
    }

    synchronized void leave(int number) {
        numbers.remove(number);
        notifyAll();
    }

    /** Waits until no thread accepts at a number. The number is closed, so the wait is short. */
    void awaitNone(int number) {
        UninterruptibleWait.until(this, () -> !numbers.contains(number));
    }
}
