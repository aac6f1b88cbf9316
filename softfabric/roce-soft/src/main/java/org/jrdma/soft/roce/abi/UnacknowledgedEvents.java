package org.jrdma.soft.roce.abi;

/**
 * Events about an object that were given out and not acknowledged. As in C, the object is not
 * destroyed before they are.
 */
public final class UnacknowledgedEvents {

    private int outstanding;

    public synchronized void given() {
        outstanding++;
    }

    public synchronized void acknowledged(int events) {
        outstanding -= events;
        notifyAll();
    }

    /** Waits until none is outstanding. */
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
