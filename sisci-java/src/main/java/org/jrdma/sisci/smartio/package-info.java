/**
 * SmartIO: devices of other nodes.
 *
 * <p>{@link org.jrdma.sisci.smartio.SmartIo} lists the devices that nodes lend, and borrows one. A
 * {@link org.jrdma.sisci.smartio.BorrowedDevice} has registers, which are {@linkplain
 * org.jrdma.sisci.smartio.BorrowedDevice#bar remote segments}. The device accesses memory by DMA,
 * but only the segments that were mapped for it; a {@link org.jrdma.sisci.smartio.DeviceMapping}
 * has the address that the device uses.
 *
 * <pre>{@code
 * try (var device = SmartIo.of(node).borrow(id, BorrowMode.SHARED);
 *         var bar = device.bar(0);
 *         var registers = bar.map(MapOptions.WHOLE.with(MapOptions.Flag.UNCACHED));
 *         var buffer = node.newSegment(7, 4096)) {
 *     buffer.prepare();
 *     var mapping = device.map(buffer);
 *     registers.putLong(DMA_SOURCE, mapping.ioAddress()); // as the device defines it
 * }
 * }</pre>
 *
 * <p>No public function of SISCI delivers the interrupts of a device. A device raises a
 * message-signaled interrupt by a 4-byte DMA write. To receive it, map a segment that has an {@link
 * org.jrdma.sisci.InterruptFlag} for the device, and program the device with the I/O address of the
 * flag. The software fabric supports this. It is not known whether adapters do.
 */
@NullMarked
package org.jrdma.sisci.smartio;

import org.jspecify.annotations.NullMarked;
