package org.jrdma.verbs.model;

import java.util.OptionalInt;
import org.jrdma.verbs.Verbs;

/**
 * A device of this machine, as it stood when the list was made; it need not be there any more.
 *
 * @param name the kernel's name for it, as {@code mlx5_0}; {@link Verbs#open} takes it. In C:
 *     {@code ibv_get_device_name}
 * @param verbsName the name of its character device, as {@code uverbs0}
 * @param index the kernel's number for it; empty where the kernel or the library is too old to
 *     tell. In C: {@code ibv_get_device_index}
 * @param guid its worldwide number; 0 where it has none. In C: {@code ibv_get_device_guid}
 * @param nodeType what kind of node it makes of this machine
 * @param transportType what it speaks
 */
public record DeviceDescription(
        String name,
        String verbsName,
        OptionalInt index,
        long guid,
        NodeType nodeType,
        TransportType transportType) {}
