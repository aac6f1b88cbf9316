package org.jrdma.verbs.model;

import java.util.OptionalInt;
import org.jrdma.verbs.Verbs;

/**
 * An entry of the device list, which describes one device. The device may have been removed since
 * the devices were listed.
 *
 * @param name the name of the device in the kernel, such as {@code mlx5_0}, which is the argument
 *     of {@link Verbs#open}. In C: {@code ibv_get_device_name}
 * @param verbsName the name of the device's character device, such as {@code uverbs0}
 * @param index the number of the device in the kernel; empty if the kernel or the library is too
 *     old to report it. In C: {@code ibv_get_device_index}
 * @param guid the globally unique identifier of the device; 0 if the device has none. In C: {@code
 *     ibv_get_device_guid}
 * @param nodeType the kind of node that the device is
 * @param transportType the transport protocol of the device
 */
public record DeviceDescription(
        String name,
        String verbsName,
        OptionalInt index,
        long guid,
        NodeType nodeType,
        TransportType transportType) {}
