package org.jrdma.volume.drive;

import java.util.Set;

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
    public void excludeUnknown(Set<Long> known) {
        // every node can write
    }

    @Override
    public String toString() {
        return "leases by clock";
    }
}
