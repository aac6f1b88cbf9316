package org.jrdma.soft.sisci.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.soft.sisci.device.IoWindows.Window;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a {@link DeviceModel} on a thread of its own, and holds the BARs of the device and the
 * memory that is mapped for it. Memory is mapped and unmapped between two polls of the model: after
 * {@link #unmap} or {@link #detach} the device does not access the memory any more.
 *
 * <p>While no borrower is attached, the thread sleeps. Otherwise it polls. It pauses after a poll
 * that has found nothing to do; the pause grows with the idle time, up to 1 ms.
 *
 * <p>Safe for use by multiple threads. {@link #close()} waits for the current poll.
 */
public final class DeviceHost implements DeviceBus, AutoCloseable {

    /** The maximum number of borrowers at a time; borrowers have the numbers from 1. */
    public static final int MAX_BORROWERS = 255;

    private static final Logger LOG = LoggerFactory.getLogger(DeviceHost.class);

    private static final VarHandle WORD = JAVA_INT.varHandle();
    private static final VarHandle LONG_WORD = JAVA_LONG.varHandle();

    private static final int MAX_ORDERED_BYTES = 64;
    private static final long SPIN_NANOS = 50_000;
    private static final long SHORT_PAUSE_NANOS = 50_000;
    private static final long LONG_PAUSE_NANOS = 1_000_000;
    private static final long LONG_IDLE_NANOS = 100_000_000;

    private final DeviceModel model;
    private final List<MemorySegment> bars;
    private final Thread thread;

    /**
     * Held during each poll. The lock is fair, because otherwise the polls of a busy device would
     * keep all other threads from acquiring it.
     */
    private final ReentrantLock lock = new ReentrantLock(true);

    /** The mapped memory of each borrower, by the number of the borrower. */
    private final @Nullable IoWindows[] borrowers = new @Nullable IoWindows[MAX_BORROWERS + 1];

    private int attached;
    private long refused;
    private volatile boolean closed;

    /**
     * Handles a message-signaled interrupt: a store of a device into memory to which an interrupt
     * is attached.
     */
    @FunctionalInterface
    public interface Signal {

        /** Ignores stores into memory to which no interrupt is attached. */
        Signal NONE = _ -> {};

        /**
         * Called by the thread of the device after the store. Must not wait.
         *
         * @param offset the offset of the store in the mapped memory
         */
        void stored(long offset);
    }

    private DeviceHost(DeviceModel model, List<MemorySegment> bars) {
        this.model = model;
        this.bars = bars;
        this.thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("sisci-soft-device-" + model.identity().name())
                        .unstarted(this::run);
    }

    /**
     * Starts a device.
     *
     * @param bars the memory of the BARs, each of the size that the model states, and zeroed. It
     *     must be accessible by all threads until the host is closed
     * @throws IllegalArgumentException if the memory does not match {@link DeviceModel#barBytes()}
     */
    public static DeviceHost start(DeviceModel model, List<MemorySegment> bars) {
        var sizes = bars.stream().map(MemorySegment::byteSize).toList();
        var expected = model.barBytes().stream().map(Integer::longValue).toList();
        if (!sizes.equals(expected)) {
            throw new IllegalArgumentException(
                    "The BARs of the device have %s bytes, but %s bytes of memory were given"
                            .formatted(expected, sizes));
        }
        var host = new DeviceHost(model, List.copyOf(bars));
        model.attach(host);
        host.thread.start();
        return host;
    }

    /**
     * Attaches a borrower, which has no mapped memory yet.
     *
     * @param borrower the number of the borrower, from 1 to {@link #MAX_BORROWERS}
     * @throws IllegalStateException if the number is in use or the host is closed
     */
    public void attach(int borrower) {
        lock.lock();
        try {
            if (closed || borrowers[borrower] != null) {
                throw new IllegalStateException(
                        closed
                                ? "The device has been closed"
                                : "Borrower %d is already attached".formatted(borrower));
            }
            borrowers[borrower] = new IoWindows(borrower);
            attached++;
        } finally {
            lock.unlock();
        }
        LockSupport.unpark(thread);
    }

    /**
     * Maps memory for the device. The memory must stay accessible until it is unmapped or the
     * borrower is detached.
     *
     * @param signal the handler of the interrupts that the device signals in this memory
     * @return the I/O address, which is a multiple of 4,096 and is not used again while the
     *     borrower is attached
     * @throws IllegalArgumentException if the memory is empty or is not aligned to 8 bytes
     * @throws IllegalStateException if the borrower is not attached, or no addresses are left
     */
    public long map(int borrower, MemorySegment memory, Signal signal) {
        if (memory.byteSize() == 0 || memory.maxByteAlignment() < Long.BYTES) {
            throw new IllegalArgumentException(
                    "Memory for a device must not be empty and must be aligned to 8 bytes: "
                            + memory);
        }
        lock.lock();
        try {
            return require(borrower).map(memory, signal);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Unmaps the memory at an I/O address. The device does not access the memory any more when this
     * method returns.
     *
     * @throws IllegalStateException if the borrower has not mapped memory at this address
     */
    public void unmap(int borrower, long address) {
        lock.lock();
        try {
            require(borrower).unmap(address);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Permits or refuses accesses to the memory at an I/O address, because the link to the memory
     * was restored or cut.
     *
     * @throws IllegalStateException if the borrower has not mapped memory at this address
     */
    public void setReachable(int borrower, long address, boolean reachable) {
        lock.lock();
        try {
            require(borrower).setReachable(address, reachable);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Detaches a borrower, and resets the device if it was the last one. The device does not access
     * memory of the borrower any more when this method returns. Does nothing if the borrower is not
     * attached.
     */
    public void detach(int borrower) {
        lock.lock();
        try {
            if (borrowers[borrower] == null) {
                return;
            }
            borrowers[borrower] = null;
            attached--;
            notifyModel(() -> model.detached(borrower));
            if (attached == 0) {
                notifyModel(model::reset);
            }
        } finally {
            lock.unlock();
        }
    }

    private static void notifyModel(Runnable notification) {
        try {
            notification.run();
        } catch (Throwable e) { // The borrower is detached even if the model fails.
            FailureLog.error(LOG, "A device failed to handle the end of a borrower", e);
        }
    }

    private IoWindows require(int borrower) {
        var windows = borrowers[borrower];
        if (windows == null) {
            throw new IllegalStateException("Borrower %d is not attached".formatted(borrower));
        }
        return windows;
    }

    /** Returns the number of accesses of the device that were refused. */
    public long refusedAccesses() {
        lock.lock();
        try {
            return refused;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public MemorySegment bar(int number) {
        if (number < 0 || number >= bars.size() || bars.get(number).byteSize() == 0) {
            throw new IllegalArgumentException("The device has no BAR " + number);
        }
        return bars.get(number);
    }

    @Override
    public int borrowerAt(long address) {
        var borrower = IoWindows.borrowerAt(address);
        return borrower <= MAX_BORROWERS && borrowers[(int) borrower] != null
                ? (int) borrower
                : NO_BORROWER;
    }

    @Override
    public boolean read(long address, MemorySegment target) {
        var window = find(address, target.byteSize());
        if (window == null) {
            return false;
        }
        var offset = window.offsetOf(address);
        MemorySegment.copy(window.memory(), offset, target, 0, target.byteSize());
        VarHandle.acquireFence();
        return true;
    }

    @Override
    public boolean write(long address, MemorySegment source) {
        var bytes = source.byteSize();
        var window = find(address, bytes);
        if (window == null) {
            return false;
        }
        var offset = window.offsetOf(address);
        VarHandle.releaseFence();
        if (bytes <= MAX_ORDERED_BYTES && (address | bytes) % Long.BYTES == 0) {
            for (var i = 0L; i < bytes; i += Long.BYTES) {
                LONG_WORD.setRelease(
                        window.memory(), offset + i, source.get(JAVA_LONG_UNALIGNED, i));
            }
        } else {
            MemorySegment.copy(source, 0, window.memory(), offset, bytes);
        }
        return true;
    }

    @Override
    public boolean signal(long address, int data) {
        var window = find(address, Integer.BYTES);
        if (window == null || address % Integer.BYTES != 0) {
            return false;
        }
        var offset = window.offsetOf(address);
        WORD.setRelease(window.memory(), offset, data);
        window.signal().stored(offset);
        return true;
    }

    /**
     * Returns the window that contains a range of I/O addresses. If there is none, counts a refused
     * access and returns null.
     */
    private @Nullable Window find(long address, long bytes) {
        var borrower = borrowerAt(address);
        var windows = borrowers[borrower];
        var window = windows == null ? null : windows.find(address, bytes);
        if (window == null) {
            refused++;
            if (windows != null && windows.isFirstRefusal()) {
                LOG.warn(
                        "Refused an access of the device \"{}\" to {} bytes at 0x{}, which borrower {} has not mapped. Further refusals are only counted.",
                        model.identity().name(),
                        bytes,
                        Long.toHexString(address),
                        borrower);
            }
        }
        return window;
    }

    private void run() {
        var lastWork = System.nanoTime();
        while (!closed) {
            if (poll()) {
                lastWork = System.nanoTime();
            } else {
                pause(System.nanoTime() - lastWork);
            }
        }
    }

    private boolean poll() {
        try {
            return pollLocked();
        } catch (Throwable e) {
            FailureLog.errorAndPause(LOG, "A device failed and continues with the next poll", e);
            return false;
        }
    }

    private boolean pollLocked() {
        lock.lock();
        try {
            return !closed && attached > 0 && model.poll();
        } finally {
            lock.unlock();
        }
    }

    private void pause(long idleNanos) {
        if (attached == 0) {
            LockSupport.park();
        } else if (idleNanos < SPIN_NANOS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(
                    idleNanos < LONG_IDLE_NANOS ? SHORT_PAUSE_NANOS : LONG_PAUSE_NANOS);
        }
    }

    /** Stops the device, and detaches all borrowers. Waits for the current poll. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            for (var borrower = 1; borrower <= MAX_BORROWERS; borrower++) {
                detach(borrower);
            }
        } finally {
            lock.unlock();
        }
        LockSupport.unpark(thread);
    }
}
