package org.jrdma.verbs.model;

/**
 * A row of a port's GID table. In C: {@code struct ibv_gid_entry}.
 *
 * @param port the port, from 1
 * @param index the row, by which a queue pair names it as its source address
 * @param gid the address
 * @param type what packets from it look like
 * @param netDevice the network interface it belongs to, or an empty text where there is none
 */
public record GidEntry(int port, int index, Gid gid, GidType type, String netDevice) {

    /** As {@code 1: ::ffff:10.77.0.1 (ROCE_V2, eth0)}. */
    @Override
    public String toString() {
        return "%d: %s (%s%s)"
                .formatted(index, gid, type, netDevice.isEmpty() ? "" : ", " + netDevice);
    }
}
