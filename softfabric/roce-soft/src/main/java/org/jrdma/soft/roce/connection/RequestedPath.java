package org.jrdma.soft.roce.connection;

import org.jrdma.soft.roce.engine.Address;

/**
 * The way that a connection is to take, as the side sees it that asks for the connection.
 *
 * @param mtu as C counts path MTUs, from 1 for 256 bytes to 5 for 4,096
 * @param acknowledgeTimeout how long the other's queue pair should wait for an acknowledgement:
 *     4.096 us times 2 to this
 */
public record RequestedPath(
        Address local,
        Address remote,
        int mtu,
        int flowLabel,
        int trafficClass,
        int hopLimit,
        int serviceLevel,
        int acknowledgeTimeout) {}
