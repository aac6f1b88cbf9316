/**
 * An NVMe controller in software, which a {@link org.jrdma.soft.sisci.device.DeviceHost} runs and
 * lends to other nodes.
 *
 * <p>A {@link org.jrdma.nvme.soft.Subsystem} has namespaces and controllers. The namespaces store
 * their blocks in a {@link org.jrdma.nvme.soft.BlockStorage}.
 */
@NullMarked
package org.jrdma.nvme.soft;

import org.jspecify.annotations.NullMarked;
