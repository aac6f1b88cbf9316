package org.jrdma.verbs.model;

import java.net.InetAddress;
import java.util.Optional;

/**
 * An entry of a port's GID table. In C: {@code struct ibv_gid_entry}.
 *
 * @param port the number of the port, starting at 1
 * @param index the index of the entry in the table, by which a queue pair selects its source
 *     address
 * @param gid the GID, which is the address
 * @param type the format of the packets that are sent with this source address
 * @param netDevice the network interface of the entry, or an empty string if it has none
 */
public record GidEntry(int port, int index, Gid gid, Type type, String netDevice) {

    /**
     * The format of the packets that are sent with a GID as their source address. In C: {@code enum
     * ibv_gid_type}.
     */
    public enum Type {
        /** InfiniBand packets. */
        INFINIBAND,
        /** RoCE version 1: Ethernet frames without an IP header, which routers do not forward. */
        ROCE_V1,
        /** RoCE version 2: UDP datagrams to port 4791. */
        ROCE_V2,
        /**
         * An unknown format: the library is too old to report the type, and the kernel does not
         * report it in sysfs.
         */
        UNKNOWN
    }

    /**
     * The IP address at which peers reach the port with this entry: the address of a RoCE v2 GID.
     * Empty for other GIDs, and for link-local addresses, which are valid only together with an
     * interface.
     */
    public Optional<InetAddress> ipAddress() {
        return type == Type.ROCE_V2 && !gid.isLinkLocal()
                ? Optional.of(gid.toInetAddress())
                : Optional.empty();
    }

    /** Formats the entry as {@code 1: ::ffff:10.77.0.1 (ROCE_V2, eth0)}. */
    @Override
    public String toString() {
        return "%d: %s (%s%s)"
                .formatted(index, gid, type, netDevice.isEmpty() ? "" : ", " + netDevice);
    }
}
