package org.jrdma.soft.roce.abi.cm;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.engine.RoceGid;

/**
 * The multicast groups that an {@code rdma_cm_id} has joined on its device. Joining a group does
 * not attach a queue pair to the group. Guarded by the lock of {@link ConnectionExports}.
 */
final class MulticastMemberships {

    private final List<Membership> memberships = new ArrayList<>();

    /**
     * A membership in a group.
     *
     * @param receives true if datagrams sent to the group are received; false if the member only
     *     sends, which requires no socket
     */
    private record Membership(RoceGid group, boolean receives) {}

    /**
     * Joins a group.
     *
     * @param receives true to receive datagrams sent to the group; false only to send to the group
     * @throws ErrnoException if the address is not a multicast address, or its address family is
     *     not that of the device
     */
    void join(ConnectionDevice device, RoceGid group, boolean receives) {
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
     * Leaves a group. Call this method once for each call of {@link #join}.
     *
     * @throws ErrnoException with {@code EADDRNOTAVAIL} if the group was not joined
     */
    void leave(ConnectionDevice device, RoceGid group) {
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
