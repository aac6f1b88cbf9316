package org.jrdma.verbs.model;

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
public record GidEntry(int port, int index, Gid gid, GidType type, String netDevice) {

    /** Formats the entry as {@code 1: ::ffff:10.77.0.1 (ROCE_V2, eth0)}. */
    @Override
    public String toString() {
        return "%d: %s (%s%s)"
                .formatted(index, gid, type, netDevice.isEmpty() ? "" : ", " + netDevice);
    }
}
