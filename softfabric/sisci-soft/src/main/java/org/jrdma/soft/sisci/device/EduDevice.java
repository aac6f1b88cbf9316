package org.jrdma.soft.sisci.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A device for learning, in the manner of the device {@code edu} of QEMU: it computes factorials,
 * copies memory by DMA to and from a buffer of its own, and signals interrupts.
 *
 * <p>BAR 0 contains the registers, which are little-endian:
 *
 * <table>
 * <caption>Registers</caption>
 * <tr><th>Offset</th><th>Bytes</th><th>Register</th></tr>
 * <tr><td>0x00</td><td>4</td><td>identification, {@code 0x010000ed}</td></tr>
 * <tr><td>0x04</td><td>4</td><td>liveness check: the driver stores a value</td></tr>
 * <tr><td>0x0c</td><td>4</td><td>liveness response: the inverted value</td></tr>
 * <tr><td>0x08</td><td>4</td><td>factorial: the operand, and later the result modulo 2^32</td></tr>
 * <tr><td>0x20</td><td>4</td><td>status: the driver sets bit 0 to start a factorial, and bit 7 to
 * request an interrupt; the device clears bit 0 when the result is available</td></tr>
 * <tr><td>0x24</td><td>4</td><td>pending interrupts: bit 0 factorial, bit 8 DMA</td></tr>
 * <tr><td>0x60</td><td>4</td><td>interrupts to raise; the device clears the register</td></tr>
 * <tr><td>0x64</td><td>4</td><td>interrupts to acknowledge; the device clears the register</td></tr>
 * <tr><td>0x80</td><td>8</td><td>DMA source address</td></tr>
 * <tr><td>0x88</td><td>8</td><td>DMA destination address</td></tr>
 * <tr><td>0x90</td><td>8</td><td>number of bytes to copy, at most 4,096</td></tr>
 * <tr><td>0x98</td><td>4</td><td>DMA command: bit 0 starts the copy, and the device clears it at the
 * end; bit 1 is the direction, 0 for memory to device; bit 2 requests an interrupt; the device sets
 * bit 3 if the copy failed</td></tr>
 * <tr><td>0xa0</td><td>8</td><td>address of the message that signals an interrupt; 0 for none</td></tr>
 * <tr><td>0xa8</td><td>4</td><td>data of that message</td></tr>
 * </table>
 *
 * <p>The buffer of the device has the DMA addresses 0x40000 to 0x40fff. It differs from QEMU's
 * device where a load or store has a side effect, because a {@link DeviceModel} cannot intercept
 * one: the driver starts a factorial by a bit, and the liveness response has a register of its own.
 */
public final class EduDevice implements DeviceModel {

    private static final DeviceIdentity IDENTITY =
            new DeviceIdentity(0x1234, 0x11e8, 0x00ff00, 0, 0, 0xed, "edu");
    private static final int BAR_BYTES = 4096;
    private static final int BUFFER_BYTES = 4096;
    private static final long BUFFER_ADDRESS = 0x40000;

    private static final int IDENTIFICATION = 0x010000ed;

    private static final int IDENTIFICATION_REGISTER = 0x00;
    private static final int LIVENESS = 0x04;
    private static final int FACTORIAL = 0x08;
    private static final int LIVENESS_RESPONSE = 0x0c;
    private static final int STATUS = 0x20;
    private static final int PENDING = 0x24;
    private static final int RAISE = 0x60;
    private static final int ACKNOWLEDGE = 0x64;
    private static final int DMA_SOURCE = 0x80;
    private static final int DMA_DESTINATION = 0x88;
    private static final int DMA_COUNT = 0x90;
    private static final int DMA_COMMAND = 0x98;
    private static final int MESSAGE_ADDRESS = 0xa0;
    private static final int MESSAGE_DATA = 0xa8;

    private static final int STATUS_BUSY = 1;
    private static final int STATUS_INTERRUPT = 1 << 7;
    private static final int DMA_START = 1;
    private static final int DMA_FROM_DEVICE = 1 << 1;
    private static final int DMA_INTERRUPT = 1 << 2;
    private static final int DMA_FAILED = 1 << 3;
    private static final int FACTORIAL_DONE = 1;
    private static final int DMA_DONE = 1 << 8;

    private static final VarHandle INT = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final VarHandle LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_BYTES, Long.BYTES);
    private @Nullable DeviceBus bus;
    private MemorySegment registers = MemorySegment.NULL;
    private int pending;

    /** Creates a device, which a {@link DeviceHost} can run. */
    public EduDevice() {}

    @Override
    public DeviceIdentity identity() {
        return IDENTITY;
    }

    @Override
    public List<Integer> barBytes() {
        return List.of(BAR_BYTES);
    }

    @Override
    public void attach(DeviceBus newBus) {
        bus = newBus;
        registers = newBus.bar(0);
        reset();
    }

    @Override
    public boolean poll() {
        var invert = ~read(LIVENESS);
        if (read(LIVENESS_RESPONSE) != invert) {
            write(LIVENESS_RESPONSE, invert);
        }
        var isComputed = computeFactorial();
        var isCopied = copy();
        return raiseAndAcknowledge() || isComputed || isCopied;
    }

    private boolean computeFactorial() {
        var status = read(STATUS);
        if ((status & STATUS_BUSY) == 0) {
            return false;
        }
        write(FACTORIAL, factorial(read(FACTORIAL)));
        finish(
                STATUS,
                status & ~STATUS_BUSY,
                (status & STATUS_INTERRUPT) != 0 ? FACTORIAL_DONE : 0);
        return true;
    }

    /** Computes a factorial modulo 2^32, which is 0 from 34 on. */
    private static int factorial(int operand) {
        var result = 1;
        for (var i = 2; i <= Math.min(operand & 0xFFFF_FFFFL, 34); i++) {
            result *= i;
        }
        return result;
    }

    private boolean copy() {
        var command = read(DMA_COMMAND);
        if ((command & DMA_START) == 0) {
            return false;
        }
        var source = (long) LONG.getOpaque(registers, (long) DMA_SOURCE);
        var destination = (long) LONG.getOpaque(registers, (long) DMA_DESTINATION);
        var count = (long) LONG.getOpaque(registers, (long) DMA_COUNT);
        var fromDevice = (command & DMA_FROM_DEVICE) != 0;
        var isCopied =
                fromDevice
                        ? isInBuffer(source, count) && bus().write(destination, at(source, count))
                        : isInBuffer(destination, count)
                                && bus().read(source, at(destination, count));
        finish(
                DMA_COMMAND,
                (command & ~(DMA_START | DMA_FAILED)) | (isCopied ? 0 : DMA_FAILED),
                (command & DMA_INTERRUPT) != 0 ? DMA_DONE : 0);
        return true;
    }

    /**
     * Sets the result of an operation and then signals an interrupt, so that the interrupt handler
     * of the driver finds the result.
     */
    private void finish(int register, int value, int interrupts) {
        pending |= interrupts;
        write(PENDING, pending);
        write(register, value);
        if (interrupts != 0) {
            signal();
        }
    }

    private static boolean isInBuffer(long address, long count) {
        var offset = address - BUFFER_ADDRESS;
        return offset >= 0
                && offset <= BUFFER_BYTES
                && count >= 0
                && count <= BUFFER_BYTES - offset;
    }

    private MemorySegment at(long address, long count) {
        return buffer.asSlice(address - BUFFER_ADDRESS, count);
    }

    private boolean raiseAndAcknowledge() {
        var raised = takeAll(RAISE);
        if (raised != 0) {
            pending |= raised;
            write(PENDING, pending);
            signal();
        }
        var acknowledged = takeAll(ACKNOWLEDGE);
        if (acknowledged != 0) {
            pending &= ~acknowledged;
            write(PENDING, pending);
        }
        return (raised | acknowledged) != 0;
    }

    private void signal() {
        var address = (long) LONG.getOpaque(registers, (long) MESSAGE_ADDRESS);
        if (address != 0) {
            var _ = bus().signal(address, read(MESSAGE_DATA));
        }
    }

    private DeviceBus bus() {
        if (bus == null) {
            throw new IllegalStateException("The device is not attached to a bus");
        }
        return bus;
    }

    private int read(int register) {
        return (int) INT.getAcquire(registers, (long) register);
    }

    private void write(int register, int value) {
        INT.setRelease(registers, (long) register, value);
    }

    private int takeAll(int register) {
        return (int) INT.getAndSet(registers, (long) register, 0);
    }

    @Override
    public void detached(int borrower) {
        var address = (long) LONG.getOpaque(registers, (long) MESSAGE_ADDRESS);
        if (IoWindows.borrowerAt(address) == borrower) {
            LONG.setOpaque(registers, (long) MESSAGE_ADDRESS, 0L);
        }
    }

    @Override
    public void reset() {
        registers.fill((byte) 0);
        buffer.fill((byte) 0);
        pending = 0;
        write(IDENTIFICATION_REGISTER, IDENTIFICATION);
    }
}
