/**
 * Devices in software, which a process can lend to the other nodes of a fabric.
 *
 * <p>A program implements {@link org.jrdma.soft.sisci.device.DeviceModel}. A {@link
 * org.jrdma.soft.sisci.device.DeviceHost} runs the model, and gives it access to the memory that
 * borrowers have mapped for the device.
 */
@NullMarked
package org.jrdma.soft.sisci.device;

import org.jspecify.annotations.NullMarked;
