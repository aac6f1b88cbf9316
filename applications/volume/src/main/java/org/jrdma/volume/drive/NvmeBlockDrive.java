package org.jrdma.volume.drive;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.Nvme;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeException;
import org.jrdma.nvme.NvmeNamespace;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.pcie.BorrowedController;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.BorrowedDevice;
import org.jrdma.sisci.smartio.SmartIo;
import org.jrdma.volume.model.BufferInUseException;
import org.jrdma.volume.model.VolumeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A namespace of an NVMe drive.
 *
 * <p>Each platform thread that does I/O gets a queue and memory of its own, up to a limit. All
 * other threads, and virtual threads, share a few I/O threads. A call that fails, or does not
 * complete within the timeout, deletes its queue, so that its commands do not take effect later. If
 * the drive does not delete the queue of a write, for example because the link to it is cut, the
 * write may take effect when the drive works again. Until this object is closed and the drive is
 * opened again, which resets the controller, all calls then fail, and the fence registers no key.
 *
 * <p>Data in the memory of {@link #newMemory} is transferred without a copy. If the drive neither
 * completes the commands for such data nor deletes their queue, the call fails with {@link
 * BufferInUseException}.
 *
 * <p>The {@link #fence()} uses reservations if the drive supports them, and was opened with a host
 * identifier. Nodes with the same controller are then excluded together.
 *
 * <p>Owns the {@link NvmeDrive}, and the controller if {@link #borrow} has borrowed it.
 */
public final class NvmeBlockDrive implements Drive {

    private static final Logger LOG = LoggerFactory.getLogger(NvmeBlockDrive.class);
    private static final int MAX_OWN_QUEUES = 16;
    private static final int IO_THREADS = 4;

    /** A thread that does not own the memory of any caller. */
    private static final Thread OTHER_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private final NvmeDrive drive;
    private final NvmeNamespace namespace;
    private final Duration timeout;

    /** Closes the borrowed controller and its node. */
    private final Runnable afterwards;

    private final int shift;
    private final Fence fence;
    private final DmaMemoryRegistry buffers = new DmaMemoryRegistry();
    private final Map<Thread, IoChannel> channels = new ConcurrentHashMap<>();
    private final ExecutorService ioThreads =
            Executors.newFixedThreadPool(
                    IO_THREADS, Thread.ofPlatform().daemon().name("volume-nvme-", 0).factory());

    /** Prevents close() from closing queues during a call. */
    private final ReentrantReadWriteLock lifetime = new ReentrantReadWriteLock();

    private boolean isClosed;

    /** True if the drive may still execute a write of a queue that it has not deleted. */
    private volatile boolean mayWriteLater;

    /**
     * Uses all blocks of a namespace.
     *
     * @param timeout the time after which a call fails if none of its commands completes
     * @throws VolumeException if the namespace is smaller than a block of a {@link Drive}
     */
    public NvmeBlockDrive(NvmeDrive drive, NvmeNamespace namespace, Duration timeout)
            throws VolumeException {
        this(drive, namespace, timeout, () -> {});
    }

    private NvmeBlockDrive(
            NvmeDrive drive, NvmeNamespace namespace, Duration timeout, Runnable afterwards)
            throws VolumeException {
        if (namespace.bytes() < BLOCK_BYTES) {
            throw Drive.tooSmall(drive.toString(), namespace.bytes());
        }
        this.drive = drive;
        this.namespace = namespace;
        this.timeout = timeout;
        this.afterwards = afterwards;
        this.shift = Integer.numberOfTrailingZeros(BLOCK_BYTES) - namespace.blockShift();
        this.fence = newFence();
    }

    /**
     * Borrows a controller exclusively, resets it, and uses its first namespace. Closing the drive
     * returns the controller.
     *
     * @param node the node that borrows, which the caller closes after the drive
     * @param fabricDeviceId the id of the controller in the fabric
     * @param host the identifier by which the drive distinguishes this host
     * @param timeout the time after which a call, or a command of the driver, fails
     * @throws FabricException if there is no such controller, another node has borrowed it, it does
     *     not start, or it has no namespace of at least one block
     */
    public static NvmeBlockDrive borrow(
            Node node, long fabricDeviceId, HostIdentifier host, Duration timeout)
            throws FabricException {
        var device = SmartIo.of(node).borrow(fabricDeviceId, BorrowMode.EXCLUSIVE);
        try {
            return start(node, device, host, timeout);
        } catch (Throwable e) {
            device.close();
            throw e;
        }
    }

    private static NvmeBlockDrive start(
            Node node, BorrowedDevice device, HostIdentifier host, Duration timeout)
            throws FabricException {
        var controller = BorrowedController.of(node, device);
        try {
            var options = NvmeOptions.DEFAULTS.adminTimeout(timeout).hostIdentifier(host);
            var drive = Nvme.open(controller, options);
            try {
                if (drive.namespaces().isEmpty()) {
                    throw new VolumeException(drive + " has no active namespace");
                }
                return new NvmeBlockDrive(
                        drive,
                        drive.namespaces().getFirst(),
                        timeout,
                        () -> {
                            controller.close();
                            device.close();
                        });
            } catch (Throwable e) {
                drive.close();
                throw e;
            }
        } catch (Throwable e) {
            controller.close();
            throw e;
        }
    }

    private Fence newFence() {
        try {
            return new ReservationFence(drive.reservations(namespace), this::requireNoLateWrite);
        } catch (NvmeException | IllegalStateException e) {
            LOG.info("No reservations exclude nodes from {}: {}", drive, e.getMessage());
            return Fence.BY_CLOCK;
        }
    }

    @Override
    public long blocks() {
        return namespace.blocks() >>> shift;
    }

    @Override
    public void read(long block, MemorySegment target) throws FabricException {
        Drive.checkRange(this, block, target);
        var hasQueue = hasOwnQueue(Thread.currentThread());
        var needsCopy = !hasQueue && !isShared(target);
        var memory = needsCopy ? MemorySegment.ofArray(new byte[(int) target.byteSize()]) : target;
        run(hasQueue, channel -> channel.read(block << shift, memory));
        if (needsCopy) {
            var _ = target.copyFrom(memory);
        }
    }

    @Override
    public void write(long block, MemorySegment source) throws FabricException {
        Drive.checkRange(this, block, source);
        var hasQueue = hasOwnQueue(Thread.currentThread());
        var memory =
                hasQueue || isShared(source)
                        ? source
                        : MemorySegment.ofArray(source.toArray(ValueLayout.JAVA_BYTE));
        run(hasQueue, channel -> channel.write(block << shift, memory));
    }

    @Override
    public void flush() throws FabricException {
        run(hasOwnQueue(Thread.currentThread()), IoChannel::flush);
    }

    /** Returns true if an I/O thread can access the memory, which may belong to one thread. */
    private static boolean isShared(MemorySegment memory) {
        return memory.isAccessibleBy(OTHER_THREAD);
    }

    @FunctionalInterface
    private interface Operation {
        void run(IoChannel channel) throws FabricException;
    }

    /** Runs an operation on this thread if it has a queue, otherwise on an I/O thread. */
    private void run(boolean hasQueue, Operation operation) throws FabricException {
        if (hasQueue) {
            runHere(operation);
            return;
        }
        Callable<Void> task =
                () -> {
                    runHere(operation);
                    return null;
                };
        Future<Void> future;
        try {
            future = ioThreads.submit(task);
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException(drive + " is closed", e);
        }
        var isInterrupted = false;
        while (true) {
            try {
                future.get();
                break;
            } catch (InterruptedException e) {
                isInterrupted = true; // the memory of the caller is in use until the task ends
            } catch (ExecutionException e) {
                if (e.getCause() instanceof RuntimeException failure) {
                    throw failure;
                }
                if (e.getCause() instanceof BufferInUseException failure) {
                    throw failure;
                }
                throw new VolumeException(e.getCause().getMessage(), e.getCause());
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean hasOwnQueue(Thread thread) {
        if (thread.isVirtual()) {
            return false;
        }
        if (channels.containsKey(thread)) {
            return true;
        }
        if (channels.size() >= MAX_OWN_QUEUES) {
            channels.forEach((owner, channel) -> {
                if (!owner.isAlive() && channels.remove(owner, channel)) {
                    channel.close();
                }
            });
        }
        return channels.size() < MAX_OWN_QUEUES;
    }

    private void runHere(Operation operation) throws FabricException {
        lifetime.readLock().lock();
        try {
            if (isClosed) {
                throw new IllegalStateException(drive + " is closed");
            }
            requireNoLateWrite();
            var thread = Thread.currentThread();
            var channel = channels.get(thread);
            if (channel == null) {
                channel = new IoChannel(drive, namespace, timeout, buffers);
                channels.put(thread, channel);
            }
            try {
                operation.run(channel);
            } catch (Throwable e) {
                channels.remove(thread);
                channel.close();
                if (channel.mayWriteLater()) {
                    mayWriteLater = true;
                }
                if (channel.mayAccessCallerMemory()) {
                    throw new BufferInUseException(drive.toString(), e);
                }
                throw e;
            }
        } finally {
            lifetime.readLock().unlock();
        }
    }

    private void requireNoLateWrite() throws VolumeException {
        if (mayWriteLater) {
            throw new VolumeException(
                    "%s may still execute a write that has failed. Open the drive again."
                            .formatted(drive));
        }
    }

    @Override
    public MemorySegment newMemory(int bytes) throws FabricException {
        var memory = drive.newMemory(bytes);
        buffers.add(memory);
        return memory.segment().asSlice(0, bytes);
    }

    /** Returns the number of bytes that open queues have copied, for tests. */
    long copiedBytes() {
        return channels.values().stream().mapToLong(IoChannel::copiedBytes).sum();
    }

    @Override
    public String serialNumber() {
        return drive.identity().serialNumber();
    }

    @Override
    public Fence fence() {
        return fence;
    }

    /** Closes the queues and the NVMe drive, which can take as long as its timeouts. */
    @Override
    public void close() {
        lifetime.writeLock().lock();
        try {
            if (!isClosed) {
                isClosed = true;
                ioThreads.shutdown();
                channels.values().forEach(IoChannel::close);
                drive.close();
                afterwards.run();
            }
        } finally {
            lifetime.writeLock().unlock();
        }
    }

    @Override
    public String toString() {
        return "namespace %d of %s".formatted(namespace.id(), drive);
    }
}
