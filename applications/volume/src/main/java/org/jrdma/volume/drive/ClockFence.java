package org.jrdma.volume.drive;

/** The fence of drives that accept every write. */
final class ClockFence implements Fence {

    @Override
    public void register(long key) {
        // every node can write
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
