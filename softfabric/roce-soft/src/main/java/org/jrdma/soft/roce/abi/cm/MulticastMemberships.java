package org.jrdma.soft.roce.abi.cm;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.engine.Address;

/**
 * The multicast groups that an identifier has joined at its device. Joining does not attach a queue
 * pair. Guarded by the connection manager's lock.
 */
final class MulticastMemberships {

    private final List<Membership> memberships = new ArrayList<>();

    /** A membership. A member that only sends needs no socket. */
    private record Membership(Address group, boolean receives) {}

    /**
     * Joins a group.
     *
     * @throws ErrnoException if the address is not a multicast address, or not of the device's
     *     address family
     */
    void join(ConnectionDevice device, Address group, boolean receives) {
        ErrnoException.throwIf(
                !group.isMulticast() || group.isIpv4() != device.address().isIpv4(), Errno.EINVAL);
        if (receives) {
            try {
                device.context().port().join(group);
            } catch (FabricException e) {
                throw new ErrnoException(e.code(), e.getMessage());
            }
        }
        memberships.add(new Membership(group, receives));
    }

    /**
     * Reverts one {@link #join}.
     *
     * @throws ErrnoException if the group was not joined
     */
    void leave(ConnectionDevice device, Address group) {
        for (var membership : memberships) {
            if (membership.group.equals(group)) {
                memberships.remove(membership);
                end(device, membership);
                return;
            }
        }
        throw new ErrnoException(Errno.EADDRNOTAVAIL);
    }

    void leaveAll(ConnectionDevice device) {
        memberships.forEach(membership -> end(device, membership));
        memberships.clear();
    }

    private static void end(ConnectionDevice device, Membership membership) {
        if (membership.receives) {
            device.context().port().leave(membership.group);
        }
    }
}
