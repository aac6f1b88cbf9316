package org.jrdma.examples.borrowdevice;

import module org.jrdma.sisci;

import java.io.IOException;
import org.jrdma.examples.AbstractExample;
import picocli.CommandLine.Command;

/**
 * A driver for a device of another node: it uses the registers of the device, and the device
 * accesses memory of this node by DMA and interrupts this node.
 *
 * <pre>
 * ./jrdma lend edu                 # on one node: lends the device "edu" of the software fabric
 * ./jrdma example borrow-device    # on another node: uses it
 * </pre>
 */
@Command(name = "borrow-device", description = "Uses a device that another node lends (SISCI)")
public final class BorrowDevice extends AbstractExample {

    private static final DeviceFilter EDU = DeviceFilter.ANY.vendor(0x1234).device(0x11e8);

    // The registers in BAR 0. The Javadoc of EduDevice describes them.
    private static final long IDENTIFICATION = 0x00;
    private static final long FACTORIAL = 0x08;
    private static final long STATUS = 0x20;
    private static final long DMA_SOURCE = 0x80;
    private static final long DMA_DESTINATION = 0x88;
    private static final long DMA_COUNT = 0x90;
    private static final long DMA_COMMAND = 0x98;
    private static final long MESSAGE_ADDRESS = 0xa0;

    private static final int START = 1;
    private static final int FROM_DEVICE = 1 << 1;
    private static final int DMA_INTERRUPT = 1 << 2;
    private static final int DMA_FAILED = 1 << 3;
    private static final int STATUS_INTERRUPT = 1 << 7;

    /** The DMA address of the buffer in the device. */
    private static final long BUFFER = 0x40000;

    // The layout of the segment: the bytes to copy, their copy, and the target of the interrupts.
    private static final int SEGMENT = 4006;
    private static final long BYTES = 4096;
    private static final long COPY = BYTES;
    private static final long MESSAGE = 2 * BYTES;

    static void main(String... arguments) {
        new BorrowDevice().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        var options = SegmentOptions.withFreeId(SEGMENT, 3 * BYTES).asPrivate();
        try (var node = sisci().open();
                var device = borrow(SmartIo.of(node));
                var segment = node.newSegment(options);
                var memory = segment.map();
                var bar = device.bar(0);
                var registers = bar.map(MapOptions.WHOLE.with(MapOptions.Flag.UNCACHED));
                var interrupt = segment.newInterruptFlag(MESSAGE, false)) {
            IO.println(
                    "borrowed device 0x%x, identification 0x%08x"
                            .formatted(device.id(), registers.getInt(IDENTIFICATION)));
            segment.prepare();
            var address = device.map(segment).ioAddress(); // The address that the device uses.
            registers.putLong(MESSAGE_ADDRESS, address + MESSAGE);

            for (var operand = 1; operand <= 12; operand++) {
                registers.putInt(FACTORIAL, operand);
                start(registers, STATUS, STATUS_INTERRUPT);
                interrupt.await(TIMEOUT);
                IO.println("%d! = %,d".formatted(operand, registers.getInt(FACTORIAL)));
            }

            for (var offset = 0L; offset < BYTES; offset += Long.BYTES) {
                memory.putLong(offset, offset);
            }
            copy(registers, address, BUFFER, 0, interrupt);
            copy(registers, BUFFER, address + COPY, FROM_DEVICE, interrupt);
            var source = memory.segment().asSlice(0, BYTES);
            if (source.mismatch(memory.segment().asSlice(COPY, BYTES)) >= 0) {
                throw new IOException("The bytes that were copied back are wrong.");
            }
            IO.println("copied %,d bytes to the device and back".formatted(BYTES));
        } // The device cannot access the segment any more, and is returned.
    }

    private static BorrowedDevice borrow(SmartIo smartIo) throws IOException {
        var devices = smartIo.devices(EDU);
        if (devices.isEmpty()) {
            throw new IOException("No node lends the device edu. On another node: jrdma lend edu");
        }
        // The device is borrowed exclusively, because it has only one set of registers.
        return smartIo.borrow(devices.getFirst(), BorrowMode.EXCLUSIVE);
    }

    private static void copy(
            RemoteMap registers, long from, long to, int direction, InterruptFlag interrupt)
            throws IOException {
        registers.putLong(DMA_SOURCE, from);
        registers.putLong(DMA_DESTINATION, to);
        registers.putLong(DMA_COUNT, BYTES);
        start(registers, DMA_COMMAND, direction | DMA_INTERRUPT);
        interrupt.await(TIMEOUT);
        if ((registers.getInt(DMA_COMMAND) & DMA_FAILED) != 0) {
            throw new IOException("The device cannot access the memory at 0x%x.".formatted(to));
        }
    }

    private static void start(RemoteMap registers, long register, int flags) {
        registers.putIntRelease(register, START | flags); // Stored after all earlier stores.
        registers.flush();
    }
}
