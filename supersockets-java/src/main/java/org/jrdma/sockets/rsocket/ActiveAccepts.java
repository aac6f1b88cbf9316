package org.jrdma.sockets.rsocket;

import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The listening rsockets in which a thread is accepting. The library reuses the number of a closed
 * rsocket, and a thread that still accepts at that number would take the clients of the new
 * listener; so the new listener waits until the thread has returned. Safe for use by multiple
 * threads.
 */
final class ActiveAccepts {

    private final Set<Integer> numbers = new HashSet<>();

    /** The calling thread starts to accept; returns false if it must not. */
    synchronized boolean enter(int number, BooleanSupplier isOpen) {
        return isOpen.getAsBoolean() && numbers.add(number);
    }

    /** The call to accept has returned. */
    synchronized void leave(int number) {
        numbers.remove(number);
        notifyAll();
    }

    /** Waits until no thread accepts at a number, which is closed: so the wait is short. */
    void awaitNone(int number) {
        UninterruptibleWait.until(this, () -> !numbers.contains(number));
    }
}
