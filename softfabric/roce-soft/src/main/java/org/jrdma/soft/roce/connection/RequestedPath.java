package org.jrdma.soft.roce.connection;

import org.jrdma.soft.roce.engine.RoceGid;

/**
 * The network path of a requested connection, from the viewpoint of the requesting side.
 *
 * @param mtu the code of the path MTU, from 1 for 256 bytes to 5 for 4,096
 * @param acknowledgeTimeout the acknowledgement timeout of the accepting side's queue pair: 4.096
 *     us times 2 to this power
 */
public record RequestedPath(
        RoceGid local,
        RoceGid remote,
        int mtu,
        int flowLabel,
        int trafficClass,
        int hopLimit,
        int serviceLevel,
        int acknowledgeTimeout) {}
