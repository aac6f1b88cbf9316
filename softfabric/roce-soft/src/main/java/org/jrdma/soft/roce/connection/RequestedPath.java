package org.jrdma.soft.roce.connection;

import org.jrdma.soft.roce.engine.Address;

/**
 * The path of a requested connection, as seen by the requesting side.
 *
 * @param mtu the code of the path MTU, from 1 for 256 bytes to 5 for 4,096
 * @param acknowledgeTimeout the exponent of the acknowledgement timeout of the other side's queue
 *     pair, in units of 4.096 us
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
