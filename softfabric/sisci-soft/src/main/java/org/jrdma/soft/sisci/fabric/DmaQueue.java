package org.jrdma.soft.sisci.fabric;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.MappedMemory;
import org.jspecify.annotations.Nullable;

/**
 * Copies memory while its program does something else, one transfer at a time. In C: {@code
 * sci_dma_queue_t}. Safe for use by several threads.
 */
public final class DmaQueue {

    /** The most pieces that any transfer can have. */
    public static final int MOST_PIECES = 256;

    private static final int ENGINES =
            sisci_h.SCI_FLAG_DMA_ADAPTER()
                    | sisci_h.SCI_FLAG_DMA_SYSDMA()
                    | sisci_h.SCI_FLAG_DMA_GLOBAL();
    private static final int TRANSFER_FLAGS =
            sisci_h.SCI_FLAG_USE_CALLBACK()
                    | sisci_h.SCI_FLAG_DMA_WAIT()
                    | sisci_h.SCI_FLAG_DMA_READ()
                    | sisci_h.SCI_FLAG_DMA_USER_MEM()
                    | sisci_h.SCI_FLAG_BROADCAST()
                    | ENGINES;

    /** What is copied before the next look at whether to go on. */
    private static final long CHUNK_BYTES = 256 << 10;

    private final Descriptor descriptor;
    private final MemberContext context;
    private final int adapter;
    private final int maxEntries;
    private int state = sisci_h.SCI_DMAQUEUE_IDLE();
    private boolean hasCallback;
    private boolean removed;
    private volatile boolean aborted;

    /** A part of a transfer. */
    public record Piece(long localOffset, long remoteOffset, long bytes) {}

    private DmaQueue(Descriptor descriptor, int adapter, int maxEntries) {
        this.descriptor = descriptor;
        this.context = descriptor.context();
        this.adapter = adapter;
        this.maxEntries = maxEntries;
    }

    /** Refuses flags that are of no engine, or of several. */
    public static void checkEngine(int flags) {
        SciException.throwIf(
                (flags & ~ENGINES) != 0 || Integer.bitCount(flags) > 1,
                sisci_h.SCI_ERR_ILLEGAL_FLAG());
    }

    /** Makes a queue. In C: {@code SCICreateDMAQueue}. */
    public static DmaQueue create(Descriptor descriptor, int adapter, int maxEntries) {
        descriptor.context().topology().checkAdapter(adapter);
        SciException.throwIf(maxEntries <= 0, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        SciException.throwIf(maxEntries > MOST_PIECES, sisci_h.SCI_ERR_MAX_ENTRIES());
        descriptor.add();
        return new DmaQueue(descriptor, adapter, maxEntries);
    }

    /** Copies between a segment here and one there. */
    public void start(
            LocalSegment local,
            RemoteSegment remote,
            List<Piece> pieces,
            EventQueue.@Nullable Callback<Integer> callback,
            int flags) {
        SciException.throwIf(
                Flags.has(flags, sisci_h.SCI_FLAG_DMA_USER_MEM()), sisci_h.SCI_ERR_ILLEGAL_FLAG());
        var pulls = Flags.has(flags, sisci_h.SCI_FLAG_DMA_READ());
        local.apply(
                pulls
                        ? LocalSegment.Operation.REQUIRE_PREPARED_AS_TARGET
                        : LocalSegment.Operation.REQUIRE_PREPARED,
                adapter,
                0);
        for (var piece : pieces) {
            checkRange(piece.localOffset(), piece.bytes(), local.bytes());
        }
        var address = local.hold();
        try {
            start(new Transfer(address, remote.memory(), pieces, flags, local::release), callback);
        } catch (RuntimeException e) {
            local.release();
            throw e;
        }
    }

    /** Copies between memory of the program and a segment. */
    public void start(
            long address,
            long bytes,
            RemoteSegment remote,
            long remoteOffset,
            EventQueue.@Nullable Callback<Integer> callback,
            int flags) {
        var pulls = Flags.has(flags, sisci_h.SCI_FLAG_DMA_READ());
        SciException.throwIf(
                bytes < 0 || !MappedMemory.isThere(address, bytes, pulls),
                sisci_h.SCI_ERR_ILLEGAL_ADDRESS());
        start(
                new Transfer(
                        address,
                        remote.memory(),
                        List.of(new Piece(0, remoteOffset, bytes)),
                        flags,
                        () -> {}),
                callback);
    }

    private record Transfer(
            long address, RemoteMemory remote, List<Piece> pieces, int flags, Runnable release) {

        boolean pulls() {
            return Flags.has(flags, sisci_h.SCI_FLAG_DMA_READ());
        }
    }

    private static void checkRange(long offset, long bytes, long available) {
        SciException.throwIf(
                offset < 0 || bytes < 0 || bytes > available || offset > available - bytes,
                sisci_h.SCI_ERR_OUT_OF_RANGE());
    }

    private void start(Transfer transfer, EventQueue.@Nullable Callback<Integer> callback) {
        var flags = transfer.flags();
        var remote = transfer.remote();
        SciException.throwIf((flags & ~TRANSFER_FLAGS) != 0, sisci_h.SCI_ERR_ILLEGAL_FLAG());
        checkEngine(flags & ENGINES);
        var waits = Flags.has(flags, sisci_h.SCI_FLAG_DMA_WAIT());
        SciException.throwIf(waits && callback != null, sisci_h.SCI_ERR_ILLEGAL_FLAG());
        var toGroup = remote.isGroup();
        SciException.throwIf(
                toGroup && (transfer.pulls() || !Flags.has(flags, sisci_h.SCI_FLAG_BROADCAST())),
                sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        SciException.throwIf(
                transfer.pieces().size() > maxEntries || transfer.pieces().isEmpty(),
                sisci_h.SCI_ERR_MAX_ENTRIES());
        for (var piece : transfer.pieces()) {
            checkRange(piece.remoteOffset(), piece.bytes(), remote.bytes());
        }
        remote.hold();
        synchronized (this) {
            if (removed || remote.link() == RemoteMemory.Link.LOST || isPosted()) {
                remote.release();
                SciException.throwIf(isPosted(), sisci_h.SCI_ERR_BUSY());
                throw new SciException(
                        removed
                                ? sisci_h.SCI_ERR_ILLEGAL_PARAMETER()
                                : sisci_h.SCI_ERR_SEGMENT_NOT_CONNECTED());
            }
            state = sisci_h.SCI_DMAQUEUE_POSTED();
            aborted = false;
            hasCallback = callback != null;
        }
        var events = callback == null ? null : new EventQueue<>(context.callbacks(), callback);
        context.workers().execute(() -> run(transfer, events));
        if (waits) {
            awaitEnd(Long.MAX_VALUE);
            SciException.throwIf(
                    state() != sisci_h.SCI_DMAQUEUE_DONE(), sisci_h.SCI_ERR_TRANSFER_FAILED());
        }
    }

    private void run(Transfer transfer, @Nullable EventQueue<Integer> events) {
        var end = sisci_h.SCI_DMAQUEUE_ERROR();
        try {
            delay(context.faults().delay());
            end = copy(transfer);
        } finally {
            transfer.remote().release();
            transfer.release().run();
            synchronized (this) {
                state = end;
                notifyAll();
            }
            if (events != null) {
                events.put(status(end));
            }
        }
    }

    private void delay(Duration delay) {
        var end = System.nanoTime() + delay.toNanos();
        synchronized (this) {
            while (!aborted && end - System.nanoTime() > 0) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(this, end - System.nanoTime());
                } catch (InterruptedException e) {
                    return; // the process leaves the fabric
                }
            }
        }
    }

    private static int status(int end) {
        if (end == sisci_h.SCI_DMAQUEUE_DONE()) {
            return sisci_h.SCI_ERR_OK();
        }
        return end == sisci_h.SCI_DMAQUEUE_ABORTED()
                ? sisci_h.SCI_ERR_CANCELLED()
                : sisci_h.SCI_ERR_TRANSFER_FAILED();
    }

    private int copy(Transfer transfer) {
        var remote = transfer.remote();
        var cuts = remote.cuts();
        for (var piece : transfer.pieces()) {
            for (var done = 0L; done < piece.bytes(); done += CHUNK_BYTES) {
                if (aborted) {
                    return sisci_h.SCI_DMAQUEUE_ABORTED();
                }
                copy(transfer, piece, done, Math.min(CHUNK_BYTES, piece.bytes() - done));
            }
        }
        return remote.link() == RemoteMemory.Link.UP && cuts == remote.cuts()
                ? sisci_h.SCI_DMAQUEUE_DONE()
                : sisci_h.SCI_DMAQUEUE_ERROR();
    }

    private void copy(Transfer transfer, Piece piece, long done, long bytes) {
        var local =
                Downcalls.memoryAt(
                        MemorySegment.ofAddress(transfer.address() + piece.localOffset() + done),
                        bytes);
        for (var connection : transfer.remote().connections()) {
            var there = connection.window().memory().asSlice(piece.remoteOffset() + done, bytes);
            if (transfer.pulls()) {
                local.copyFrom(there);
            } else {
                there.copyFrom(local);
            }
        }
        if (!transfer.pulls()) {
            context.writeBuffers().bypassed(transfer.remote(), local, piece.remoteOffset() + done);
        }
    }

    private synchronized boolean isPosted() {
        return state == sisci_h.SCI_DMAQUEUE_POSTED();
    }

    /** How far it is. In C: {@code SCIDMAQueueState}. */
    public synchronized int state() {
        return state;
    }

    /** Waits for the end of what was started. In C: {@code SCIWaitForDMAQueue}. */
    public int await(int milliseconds) {
        synchronized (this) {
            SciException.throwIf(
                    hasCallback || state == sisci_h.SCI_DMAQUEUE_IDLE(),
                    sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        }
        awaitEnd(UninterruptibleWait.nanos(milliseconds));
        SciException.throwIf(isPosted(), sisci_h.SCI_ERR_TIMEOUT());
        return state();
    }

    private synchronized void awaitEnd(long nanos) {
        UninterruptibleWait.until(this, nanos, () -> !isPosted());
    }

    /** Ends a transfer early. In C: {@code SCIAbortDMAQueue}. */
    public synchronized void abort() {
        SciException.throwIf(
                state == sisci_h.SCI_DMAQUEUE_IDLE(), sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        aborted = true;
        notifyAll();
    }

    /** Ends it. In C: {@code SCIRemoveDMAQueue}. */
    public synchronized void remove() {
        SciException.throwIf(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        SciException.throwIf(isPosted(), sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        removed = true;
        descriptor.remove();
    }
}
