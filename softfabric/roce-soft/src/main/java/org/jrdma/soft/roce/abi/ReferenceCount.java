package org.jrdma.soft.roce.abi;

/** The number of objects that depend on an object, which cannot be destroyed before them. */
public final class ReferenceCount {

    private int count;

    public synchronized void add() {
        count++;
    }

    public synchronized void remove() {
        count--;
    }

    public synchronized void requireNone(int errno) {
        if (count > 0) {
            throw new ErrnoException(errno);
        }
    }
}
