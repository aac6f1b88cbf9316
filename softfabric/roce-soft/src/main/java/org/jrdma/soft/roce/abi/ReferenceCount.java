package org.jrdma.soft.roce.abi;

/** The number of objects that need an object, which cannot be destroyed meanwhile. */
public final class ReferenceCount {

    private int count;

    public synchronized void add() {
        count++;
    }

    public synchronized void remove() {
        count--;
    }

    public synchronized void refuseIfAny(int errno) {
        if (count > 0) {
            throw new ErrnoException(errno);
        }
    }
}
