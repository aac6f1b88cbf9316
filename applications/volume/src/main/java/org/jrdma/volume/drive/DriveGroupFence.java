package org.jrdma.volume.drive;

import java.util.List;
import java.util.Set;
import org.jrdma.ffi.FabricException;

/** The fence of a drive that consists of several drives. */
record DriveGroupFence(List<Fence> fences) implements Fence {

    @Override
    public void register(long key) throws FabricException {
        for (var fence : fences) {
            fence.register(key);
        }
    }

    @Override
    public void unregister(long key) throws FabricException {
        for (var fence : fences) {
            fence.unregister(key);
        }
    }

    @Override
    public void lead(long key, long predecessor) throws FabricException {
        for (var fence : fences) {
            fence.lead(key, predecessor);
        }
    }

    @Override
    public boolean exclude(long key) throws FabricException {
        var isEnforced = true;
        for (var fence : fences) {
            isEnforced &= fence.exclude(key);
        }
        return isEnforced;
    }

    @Override
    public void excludeUnknown(Set<Long> known) throws FabricException {
        for (var fence : fences) {
            fence.excludeUnknown(known);
        }
    }

    @Override
    public String toString() {
        return fences.toString();
    }
}
