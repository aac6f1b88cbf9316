package org.jrdma.soft.roce.abi;

/**
 * The number of events of an object that were taken and not acknowledged. As in C, an object is
 * destroyed only after its events were acknowledged.
 */
public final class UnacknowledgedEvents {

    private int outstanding;

    public synchronized void taken() {
        outstanding++;
    }

    public synchronized void acknowledged(int events) {
        outstanding -= events;
        notifyAll();
    }

    /** Waits until all events are acknowledged. */
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
