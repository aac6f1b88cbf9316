package org.jrdma.tck.sisci;

import java.lang.foreign.MemorySegment;
import org.jrdma.sisci.MapOptions;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.model.SisciException;
import org.jrdma.sisci.smartio.BorrowedDevice;

/** A driver for the device that {@link FabricUnderTest.Lender} lends. */
final class EduDriver {

    static final int VENDOR = 0x1234;
    static final int DEVICE = 0x11e8;
    static final int CLASS_CODE = 0x00ff00;

    /** The DMA address of the buffer in the device. */
    static final long BUFFER = 0x40000;

    private static final int IDENTIFICATION = 0x00;
    private static final int FACTORIAL = 0x08;
    private static final int STATUS = 0x20;
    private static final int RAISE = 0x60;
    private static final int DMA_SOURCE = 0x80;
    private static final int DMA_DESTINATION = 0x88;
    private static final int DMA_COUNT = 0x90;
    private static final int DMA_COMMAND = 0x98;
    private static final int MESSAGE_ADDRESS = 0xa0;
    private static final int MESSAGE_DATA = 0xa8;

    private static final int STARTED = 1;
    private static final int FROM_DEVICE = 1 << 1;
    private static final int FAILED = 1 << 3;

    private final RemoteMap registers;

    EduDriver(BorrowedDevice device) throws SisciException {
        registers = device.bar(0).map(MapOptions.WHOLE.with(MapOptions.Flag.UNCACHED));
    }

    int identification() {
        return registers.getInt(IDENTIFICATION);
    }

    int factorial(int operand) throws Exception {
        registers.putInt(FACTORIAL, operand);
        registers.putIntRelease(STATUS, STARTED);
        registers.flush();
        AbstractMultiNodeTest.eventually(() -> registers.getIntAcquire(STATUS) == 0);
        return registers.getInt(FACTORIAL);
    }

    /** Copies memory into the buffer. Returns false if the device could not access the memory. */
    boolean load(long ioAddress, long bytes) throws Exception {
        return copy(ioAddress, BUFFER, bytes, 0);
    }

    /** Copies the buffer into memory. Returns false if the device could not access the memory. */
    boolean store(long ioAddress, long bytes) throws Exception {
        return copy(BUFFER, ioAddress, bytes, FROM_DEVICE);
    }

    private boolean copy(long source, long destination, long bytes, int direction)
            throws Exception {
        registers.putLong(DMA_SOURCE, source);
        registers.putLong(DMA_DESTINATION, destination);
        registers.putLong(DMA_COUNT, bytes);
        registers.putIntRelease(DMA_COMMAND, STARTED | direction);
        registers.flush();
        AbstractMultiNodeTest.eventually(
                () -> (registers.getIntAcquire(DMA_COMMAND) & STARTED) == 0);
        return (registers.getInt(DMA_COMMAND) & FAILED) == 0;
    }

    /** Sets the I/O address and the data of the message that signals an interrupt. */
    void signalAt(long ioAddress, int data) {
        registers.putLong(MESSAGE_ADDRESS, ioAddress);
        registers.putInt(MESSAGE_DATA, data);
        registers.flush();
    }

    void raiseInterrupt() {
        registers.putIntRelease(RAISE, 1);
        registers.flush();
    }

    MemorySegment registers() {
        return registers.segment();
    }
}
