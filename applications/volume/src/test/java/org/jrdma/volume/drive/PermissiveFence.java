package org.jrdma.volume.drive;

import java.util.Set;
import org.jrdma.ffi.FabricException;

/** A fence that excludes no node, of which a test overrides methods. */
public class PermissiveFence implements Fence {

    /** Creates a fence. */
    public PermissiveFence() {}

    @Override
    public void register(long key) throws FabricException {}

    @Override
    public void unregister(long key) throws FabricException {}

    @Override
    public void lead(long key, long predecessor) throws FabricException {}

    @Override
    public boolean exclude(long key) throws FabricException {
        return false;
    }

    @Override
    public void excludeUnknown(Set<Long> known) throws FabricException {}
}
