package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.ffi.linkage.MappedAddressCheck;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue of a DMA engine, which executes one transfer at a time. In C: {@code sci_dma_queue_t}.
 * Safe for use by multiple threads.
 */
public final class DmaQueue {

    /** The maximum number of pieces of a transfer. */
    public static final int MAX_PIECES = 256;

    private static final int ENGINES =
            SCI_FLAG_DMA_ADAPTER() | SCI_FLAG_DMA_SYSDMA() | SCI_FLAG_DMA_GLOBAL();
    private static final int TRANSFER_FLAGS =
            SCI_FLAG_USE_CALLBACK()
                    | SCI_FLAG_DMA_WAIT()
                    | SCI_FLAG_DMA_READ()
                    | SCI_FLAG_DMA_USER_MEM()
                    | SCI_FLAG_BROADCAST()
                    | ENGINES;

    /** The number of bytes that are copied between two checks for an abort. */
    private static final long CHUNK_BYTES = 256 << 10;

    /**
     * The number of bytes up to which the calling thread copies. Copying them takes less time than
     * waking up another thread.
     */
    private static final long SHORT_BYTES = 32 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(DmaQueue.class);

    private final SciDescriptor descriptor;
    private final ProcessContext context;
    private final int adapter;
    private final int maxEntries;
    private int state = SCI_DMAQUEUE_IDLE();
    private boolean hasCallback;
    private boolean removed;
    private volatile boolean aborted;

    /** A contiguous part of a transfer. */
    public record Piece(long localOffset, long remoteOffset, long bytes) {}

    private DmaQueue(SciDescriptor descriptor, int adapter, int maxEntries) {
        this.descriptor = descriptor;
        this.context = descriptor.context();
        this.adapter = adapter;
        this.maxEntries = maxEntries;
    }

    /** Fails if the flags select more than one DMA engine. */
    public static void checkEngine(int flags) {
        throwIf((flags & ~ENGINES) != 0 || Integer.bitCount(flags) > 1, SCI_ERR_ILLEGAL_FLAG());
    }

    public static DmaQueue create(SciDescriptor descriptor, int adapter, int maxEntries) {
        descriptor.context().topology().checkAdapter(adapter);
        throwIf(maxEntries <= 0, SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(maxEntries > MAX_PIECES, SCI_ERR_MAX_ENTRIES());
        descriptor.add();
        return new DmaQueue(descriptor, adapter, maxEntries);
    }

    /** Starts a transfer between a local and a remote segment. */
    public void start(
            LocalSegment local,
            RemoteSegment remote,
            List<Piece> pieces,
            EventQueue.@Nullable Callback<Integer> callback,
            int flags) {
        throwIf(FlagChecks.has(flags, SCI_FLAG_DMA_USER_MEM()), SCI_ERR_ILLEGAL_FLAG());
        var pulls = FlagChecks.has(flags, SCI_FLAG_DMA_READ());
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
            start(new Transfer(address, remote.link(), pieces, flags, local::release), callback);
        } catch (Throwable e) {
            local.release();
            throw e;
        }
        awaitIfRequested(flags);
    }

    /** Starts a transfer between memory of the program and a remote segment. */
    public void start(
            long address,
            long bytes,
            RemoteSegment remote,
            long remoteOffset,
            EventQueue.@Nullable Callback<Integer> callback,
            int flags) {
        var pulls = FlagChecks.has(flags, SCI_FLAG_DMA_READ());
        throwIf(
                bytes < 0 || !MappedAddressCheck.isMapped(address, bytes, pulls),
                SCI_ERR_ILLEGAL_ADDRESS());
        start(
                new Transfer(
                        address,
                        remote.link(),
                        List.of(new Piece(0, remoteOffset, bytes)),
                        flags,
                        () -> {}),
                callback);
        awaitIfRequested(flags);
    }

    private record Transfer(
            long address, SegmentLink remote, List<Piece> pieces, int flags, Runnable release) {

        long bytes() {
            return pieces.stream().mapToLong(Piece::bytes).sum();
        }

        boolean pulls() {
            return FlagChecks.has(flags, SCI_FLAG_DMA_READ());
        }
    }

    private static void checkRange(long offset, long bytes, long available) {
        throwIf(
                offset < 0 || bytes < 0 || bytes > available || offset > available - bytes,
                SCI_ERR_OUT_OF_RANGE());
    }

    /** Starts a transfer, which releases the local memory at its end unless this method fails. */
    private void start(Transfer transfer, EventQueue.@Nullable Callback<Integer> callback) {
        var flags = transfer.flags();
        var remote = transfer.remote();
        FlagChecks.checkAllowed(flags, TRANSFER_FLAGS);
        checkEngine(flags & ENGINES);
        throwIf(
                FlagChecks.has(flags, SCI_FLAG_DMA_WAIT()) && callback != null,
                SCI_ERR_ILLEGAL_FLAG());
        var toGroup = remote.isGroup();
        throwIf(
                toGroup && (transfer.pulls() || !FlagChecks.has(flags, SCI_FLAG_BROADCAST())),
                SCI_ERR_ILLEGAL_OPERATION());
        throwIf(
                transfer.pieces().size() > maxEntries || transfer.pieces().isEmpty(),
                SCI_ERR_MAX_ENTRIES());
        for (var piece : transfer.pieces()) {
            checkRange(piece.remoteOffset(), piece.bytes(), remote.bytes());
        }
        remote.hold();
        synchronized (this) {
            if (removed || remote.state() == SegmentLink.State.LOST || isPosted()) {
                remote.release();
                throwIf(isPosted(), SCI_ERR_BUSY());
                throw new SciException(
                        removed ? SCI_ERR_ILLEGAL_PARAMETER() : SCI_ERR_SEGMENT_NOT_CONNECTED());
            }
            state = SCI_DMAQUEUE_POSTED();
            aborted = false;
            hasCallback = callback != null;
        }
        try {
            var events = callback == null ? null : new EventQueue<>(context.callbacks(), callback);
            if (isShort(transfer)) {
                runHere(transfer, events);
            } else {
                context.workers().execute(() -> run(transfer, events));
            }
        } catch (Throwable e) {
            // There is no memory or thread for the transfer, or the process leaves the fabric.
            remote.release();
            end(SCI_DMAQUEUE_ERROR());
            throw e;
        }
    }

    /** Waits for the end of a transfer that has started, if its flags request this. */
    private void awaitIfRequested(int flags) {
        if (FlagChecks.has(flags, SCI_FLAG_DMA_WAIT())) {
            awaitEnd(Long.MAX_VALUE);
            throwIf(state() != SCI_DMAQUEUE_DONE(), SCI_ERR_TRANSFER_FAILED());
        }
    }

    private boolean isShort(Transfer transfer) {
        return transfer.bytes() <= SHORT_BYTES && context.faults().delay().isZero();
    }

    /** Runs a transfer. A failure is in the state of this queue, like that of a long transfer. */
    private void runHere(Transfer transfer, @Nullable EventQueue<Integer> events) {
        try {
            run(transfer, events);
        } catch (Throwable e) {
            FailureLog.error(LOG, "A DMA transfer failed", e);
        }
    }

    private void run(Transfer transfer, @Nullable EventQueue<Integer> events) {
        var end = SCI_DMAQUEUE_ERROR();
        try {
            delay(context.faults().delay());
            end = copy(transfer);
        } finally {
            transfer.remote().release();
            transfer.release().run();
            end(end);
            if (events != null) {
                events.put(status(end));
            }
        }
    }

    private synchronized void end(int newState) {
        state = newState;
        notifyAll();
    }

    private void delay(Duration delay) {
        var end = System.nanoTime() + delay.toNanos();
        synchronized (this) {
            while (!aborted && end - System.nanoTime() > 0) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(this, end - System.nanoTime());
                } catch (InterruptedException e) {
                    return; // The thread is interrupted when the process leaves the fabric.
                }
            }
        }
    }

    private static int status(int end) {
        if (end == SCI_DMAQUEUE_DONE()) {
            return SCI_ERR_OK();
        }
        return end == SCI_DMAQUEUE_ABORTED() ? SCI_ERR_CANCELLED() : SCI_ERR_TRANSFER_FAILED();
    }

    private int copy(Transfer transfer) {
        var remote = transfer.remote();
        var cuts = remote.cuts();
        for (var piece : transfer.pieces()) {
            for (var done = 0L; done < piece.bytes(); done += CHUNK_BYTES) {
                if (aborted) {
                    return SCI_DMAQUEUE_ABORTED();
                }
                copy(transfer, piece, done, Math.min(CHUNK_BYTES, piece.bytes() - done));
            }
        }
        return remote.state() == SegmentLink.State.UP && cuts == remote.cuts()
                ? SCI_DMAQUEUE_DONE()
                : SCI_DMAQUEUE_ERROR();
    }

    private void copy(Transfer transfer, Piece piece, long done, long bytes) {
        var local =
                Downcalls.memoryAt(
                        MemorySegment.ofAddress(transfer.address() + piece.localOffset() + done),
                        bytes);
        for (var connection : transfer.remote().connections()) {
            var remoteMemory =
                    connection.window().memory().asSlice(piece.remoteOffset() + done, bytes);
            if (transfer.pulls()) {
                local.copyFrom(remoteMemory);
            } else {
                remoteMemory.copyFrom(local);
            }
        }
        if (!transfer.pulls()) {
            context.writeBuffers().bypassed(transfer.remote(), local, piece.remoteOffset() + done);
        }
    }

    private synchronized boolean isPosted() {
        return state == SCI_DMAQUEUE_POSTED();
    }

    public synchronized int state() {
        return state;
    }

    public int await(int milliseconds) {
        synchronized (this) {
            throwIf(hasCallback || state == SCI_DMAQUEUE_IDLE(), SCI_ERR_ILLEGAL_OPERATION());
        }
        awaitEnd(UninterruptibleWait.nanos(milliseconds));
        throwIf(isPosted(), SCI_ERR_TIMEOUT());
        return state();
    }

    private synchronized void awaitEnd(long nanos) {
        UninterruptibleWait.until(this, nanos, () -> !isPosted());
    }

    public synchronized void abort() {
        throwIf(state == SCI_DMAQUEUE_IDLE(), SCI_ERR_ILLEGAL_OPERATION());
        aborted = true;
        notifyAll();
    }

    public synchronized void remove() {
        throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(isPosted(), SCI_ERR_ILLEGAL_OPERATION());
        removed = true;
        descriptor.remove();
    }
}
