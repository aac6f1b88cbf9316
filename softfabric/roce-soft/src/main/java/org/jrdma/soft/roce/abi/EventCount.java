package org.jrdma.soft.roce.abi;

/**
 * Events about an object that were given out and not acknowledged. As in C, the object is not
 * destroyed before they are.
 */
final class EventCount {

    private int outstanding;

    synchronized void given() {
        outstanding++;
    }

    synchronized void acknowledged(int events) {
        outstanding -= events;
        notifyAll();
    }

    /** Waits until none is outstanding. */
    synchronized void awaitNone() {
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
