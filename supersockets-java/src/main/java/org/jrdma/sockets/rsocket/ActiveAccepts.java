package org.jrdma.sockets.rsocket;

import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The numbers at which a thread accepts, or is about to. Whoever gets such a number anew waits
 * until that thread has left, which would take the clients of the new one. Safe for use by several
 * threads.
 */
final class ActiveAccepts {

    private final Set<Integer> numbers = new HashSet<>();

    /** Says that the calling thread is about to accept; false if it must not any more. */
    synchronized boolean enter(int number, BooleanSupplier isOpen) {
        return isOpen.getAsBoolean() && numbers.add(number);
    }

    /** Says that it has been told, of a client or of the end. */
    synchronized void leave(int number) {
        numbers.remove(number);
        notifyAll();
    }

    /** Waits until nobody accepts at a number, which is closed: so not for long. */
    synchronized void awaitNone(int number) {
        var interrupted = false;
        while (numbers.contains(number)) {
            try {
                wait();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
