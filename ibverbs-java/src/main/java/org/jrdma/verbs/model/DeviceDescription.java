package org.jrdma.verbs.model;

import java.util.OptionalInt;
import org.jrdma.verbs.Verbs;

/**
 * A device of this machine at the time the devices were listed. The device may have been removed
 * since.
 *
 * @param name the kernel's name of the device, such as {@code mlx5_0}; {@link Verbs#open} takes it.
 *     In C: {@code ibv_get_device_name}
 * @param verbsName the name of its character device, such as {@code uverbs0}
 * @param index the kernel's number of the device; empty if the kernel or the library is too old to
 *     report it. In C: {@code ibv_get_device_index}
 * @param guid its globally unique identifier; 0 if it has none. In C: {@code ibv_get_device_guid}
 * @param nodeType the kind of node
 * @param transportType the transport protocol
 */
public record DeviceDescription(
        String name,
        String verbsName,
        OptionalInt index,
        long guid,
        NodeType nodeType,
        TransportType transportType) {}
