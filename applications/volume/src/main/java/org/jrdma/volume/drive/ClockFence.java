package org.jrdma.volume.drive;

/** The fence of drives that accept every write. */
final class ClockFence implements Fence {

    @Override
    public void register(long key) {
        // every node can write
    }

    @Override
    public void unregister(long key) {
        // every node can write
    }

    @Override
    public void lead(long key, long predecessor) {
        // the lease of the predecessor has ended
    }

    @Override
    public boolean exclude(long key) {
        return false;
    }

    @Override
    public String toString() {
        return "leases by clock";
    }
}
