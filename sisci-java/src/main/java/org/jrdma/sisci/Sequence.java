package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Locale;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.SisciConstant;
import org.jrdma.sisci.internal.StoreFunctions;
import org.jrdma.sisci.model.SequenceStatus;
import org.jrdma.sisci.model.SisciException;

/**
 * Checks whether a sequence of stores into a {@link RemoteMap} has arrived.
 *
 * <p>{@link #tryWrite} starts the sequence if necessary, stores the data, and checks whether it has
 * arrived. {@link #write} repeats these steps until the data has arrived. Neither method allocates
 * memory.
 *
 * <p>Owned by its map. Only one thread at a time may use a sequence. However, any thread may call
 * {@link #close()}. In C: {@code sci_sequence_t}; {@link #close()} is {@code SCIRemoveSequence}.
 */
public final class Sequence extends SisciObject {

    private static final long LONGEST_PAUSE = 20_000_000;

    private final RemoteMap map;
    private final StoreFunctions stores;
    private final long handle;

    /** True if {@link #start()} must return OK before the next store. */
    private boolean mustStart = true;

    private Sequence(RemoteMap map, ObjectHandle handle) {
        super(handle);
        this.map = map;
        this.stores = map.functions().stores();
        this.handle = handle.address().address();
    }

    /**
     * Creates a sequence for a map. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold}
     * the lifetime of the map.
     */
    static Sequence create(RemoteMap map, boolean fast) throws SisciException {
        var functions = map.functions();
        var flags = fast ? functions.library().number(SisciConstant.SCI_FLAG_FAST_BARRIER) : 0;
        var name = "sequence of " + map;
        var handle = functions.segments().createSequence(map.address(), flags, map);
        return new Sequence(
                map,
                map.node()
                        .own(
                                name,
                                handle,
                                map.ownLifetime(),
                                () -> functions.segments().removeSequence(handle, name)));
    }

    /**
     * Starts this sequence. If the result is OK, the program may store data. In C: {@code
     * SCIStartSequence}.
     */
    public SequenceStatus start() throws SisciException {
        var guard = enterGuard();
        try {
            return stores.startSequence(handle, 0, this);
        } finally {
            guard.exit();
        }
    }

    /**
     * Flushes the stores since the last check or start, waits for them, and returns a status that
     * indicates whether they have arrived. In C: {@code SCICheckSequence}.
     */
    public SequenceStatus check() throws SisciException {
        var guard = enterGuard();
        try {
            return stores.checkSequence(handle, 0, this);
        } finally {
            guard.exit();
        }
    }

    /** Drains the stores from the write buffers of this CPU. In C: {@code SCIFlush}. */
    public void flush() {
        var guard = enterGuard();
        try {
            stores.flush(handle, 0);
        } finally {
            guard.exit();
        }
    }

    /**
     * Flushes the stores, and waits until they have left this node. In C: {@code SCIStoreBarrier}.
     */
    public void storeBarrier() {
        var guard = enterGuard();
        try {
            stores.storeBarrier(handle, 0);
        } finally {
            guard.exit();
        }
    }

    /**
     * Stores data once, and returns a status that indicates whether the data has arrived. If the
     * sequence must be started and the start is not successful, this method stores nothing. If
     * there was no error, it makes one library call, {@code SCICheckSequence}.
     *
     * @param offset the offset in the map
     */
    public SequenceStatus tryWrite(long offset, MemorySegment source) throws SisciException {
        if (mustStart) {
            var status = start();
            if (status != SequenceStatus.OK) {
                return status;
            }
        }
        MemorySegment.copy(source, 0, map.segment(), offset, source.byteSize());
        mustStart = true; // Set before the check, which may throw an exception.
        var status = check();
        mustStart = status == SequenceStatus.NOT_RETRIABLE || status == SequenceStatus.PENDING;
        return status;
    }

    /**
     * Stores data repeatedly until the data has arrived, even if the link fails temporarily.
     *
     * @param offset the offset in the map
     * @return the number of attempts: 1 if there was no error
     * @throws FabricTimeoutException if the data did not arrive in time; the message contains the
     *     last status. Parts of the data may have arrived
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public int write(long offset, MemorySegment source, Duration timeout)
            throws FabricException, InterruptedIOException {
        var status = tryWrite(offset, source);
        return status == SequenceStatus.OK ? 1 : retryWrite(offset, source, timeout, status);
    }

    private int retryWrite(long offset, MemorySegment source, Duration timeout, SequenceStatus last)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        var status = last;
        var pause = 1_000L;
        for (var tries = 2; ; tries++) {
            if (deadline.hasPassed()) {
                throw deadline.missed(
                        String.format(
                                Locale.ROOT,
                                "%,d bytes did not arrive through %s (last status: %s)",
                                source.byteSize(),
                                this,
                                status));
            }
            if (status != SequenceStatus.RETRIABLE) {
                pause(Math.min(pause, deadline.remainingNanos()), this);
                pause = Math.min(2 * pause, LONGEST_PAUSE);
            }
            status = tryWrite(offset, source);
            if (status == SequenceStatus.OK) {
                return tries;
            }
        }
    }

    /**
     * Copies memory to the other node, and checks that it has arrived. In C: {@code SCIMemCpy} with
     * {@code SCI_FLAG_ERROR_CHECK}, once for each MiB.
     *
     * @param source the source, which must be native memory
     * @throws SisciException with TRANSFER_FAILED if the data did not arrive
     * @throws UnsupportedOperationException if the library does not export the flag's number
     */
    public void copyFrom(MemorySegment source, long offset) throws SisciException {
        var flags = map.functions().library().number(SisciConstant.SCI_FLAG_ERROR_CHECK);
        whileOpen(() -> map.copy(handle, source, offset, flags, RemoteMap.MAX_WRITE_PIECE));
    }

    /** Returns the map whose stores this sequence checks. */
    public RemoteMap map() {
        return map;
    }
}
