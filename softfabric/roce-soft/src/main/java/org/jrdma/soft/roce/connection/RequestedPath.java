package org.jrdma.soft.roce.connection;

import org.jrdma.soft.roce.engine.Address;

/**
 * The path of a requested connection, from the viewpoint of the side that requests the connection.
 *
 * @param local the address of the side that requests the connection
 * @param remote the address of the side that receives the request
 * @param mtu the path MTU as an {@code enum ibv_mtu} code, from 1 for 256 bytes to 5 for 4,096
 *     bytes
 * @param acknowledgeTimeout the exponent of the acknowledgement timeout of the queue pair on the
 *     side that receives the request, in units of 4.096 us
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
