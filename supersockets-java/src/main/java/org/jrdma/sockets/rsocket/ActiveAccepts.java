package org.jrdma.sockets.rsocket;

import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The listening rsockets for which a thread is in a call of {@code raccept}.
 *
 * <p>The library reuses the number of a closed rsocket. If a thread were still in {@code raccept}
 * with that number, it would accept the clients of the new listener. A new listener therefore waits
 * until the thread has returned from {@code raccept}. Safe for use by multiple threads.
 */
final class ActiveAccepts {

    private final Set<Integer> numbers = new HashSet<>();

    /**
     * Records that the calling thread is about to call raccept.
     *
     * @param isOpen returns true if the listener of the thread is open
     * @return false if the thread must not call raccept, because the listener is closed, or because
     *     another thread is in raccept with the same number
     */
    synchronized boolean enter(int number, BooleanSupplier isOpen) {
        return isOpen.getAsBoolean() && numbers.add(number);
    }

    /** Records that the calling thread has returned from raccept. */
    synchronized void leave(int number) {
        numbers.remove(number);
        notifyAll();
    }

    /**
     * Waits until no thread is in {@code raccept} with the given rsocket number. The wait is short:
     * the former rsocket with that number is closed, so {@code raccept} returns.
     */
    void awaitNone(int number) {
        UninterruptibleWait.until(this, () -> !numbers.contains(number));
    }
}
