package org.jrdma.soft.roce.abi;

/**
 * A counter of the objects that use another object. An object must not be destroyed while other
 * objects use it: C callers receive an error instead. Safe for use by multiple threads.
 */
public final class ReferenceCount {

    private int count;

    public synchronized void add() {
        count++;
    }

    public synchronized void remove() {
        count--;
    }

    /** Throws an {@link ErrnoException} with the given errno if the count is not 0. */
    public synchronized void requireNone(int errno) {
        if (count > 0) {
            throw new ErrnoException(errno);
        }
    }
}
