package org.jrdma.soft.sisci.fabric;

import org.jrdma.soft.sisci.device.DeviceIdentity;

/**
 * A device that a process of the fabric lends.
 *
 * @param id the id by which all nodes find the device
 * @param node the node of the device
 * @param slot the number of the device among the devices of the node
 * @param identity the identity of the device
 */
public record FabricDevice(long id, int node, int slot, DeviceIdentity identity) {}
