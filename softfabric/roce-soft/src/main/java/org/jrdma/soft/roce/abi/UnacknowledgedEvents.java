package org.jrdma.soft.roce.abi;

/**
 * A counter of the events about one object that the program has received and not acknowledged yet.
 * As in libibverbs, the function that destroys the object waits until the program has acknowledged
 * all of them. Safe for use by multiple threads.
 */
public final class UnacknowledgedEvents {

    private int outstanding;

    /** Counts one more event that the program has received. */
    public synchronized void taken() {
        outstanding++;
    }

    /**
     * Subtracts events that the program has acknowledged.
     *
     * @param events the number of events
     */
    public synchronized void acknowledged(int events) {
        outstanding -= events;
        notifyAll();
    }

    /**
     * Waits until all received events are acknowledged. An interrupt does not end the wait; the
     * interrupt status of the thread is restored afterwards.
     */
    public synchronized void awaitNone() {
        var interrupted = false;
        while (outstanding > 0) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
