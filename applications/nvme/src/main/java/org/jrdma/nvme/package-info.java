/**
 * An NVMe driver: drives, their namespaces, and I/O queues.
 *
 * <p>{@link org.jrdma.nvme.Nvme#open} takes control of a controller and returns a {@link
 * org.jrdma.nvme.NvmeDrive}. Each thread that does I/O uses an {@link org.jrdma.nvme.NvmeQueue} of
 * its own, with data in {@link org.jrdma.nvme.DmaMemory}. With an {@link
 * org.jrdma.nvme.SharedControllerManager}, several processes and hosts use one controller.
 */
@NullMarked
package org.jrdma.nvme;

import org.jspecify.annotations.NullMarked;
