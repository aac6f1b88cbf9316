package org.jrdma.soft.roce.abi;

/** How many objects need another one, which cannot be destroyed meanwhile. */
final class Users {

    private int count;

    synchronized void add() {
        count++;
    }

    synchronized void remove() {
        count--;
    }

    synchronized void refuseIfAny(int errno) {
        if (count > 0) {
            throw new Refusal(errno);
        }
    }
}
