/**
 * Access to an NVMe controller: its registers, and memory that it can access by DMA.
 *
 * <p>The driver in {@link org.jrdma.nvme} uses a {@link org.jrdma.nvme.pcie.ControllerAccess},
 * which depends on where the controller is.
 */
@NullMarked
package org.jrdma.nvme.pcie;

import org.jspecify.annotations.NullMarked;
