package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Locale;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.guard.CallGuard;
import org.jrdma.sisci.internal.Constant;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.StoreFunctions;
import org.jrdma.sisci.model.SequenceStatus;
import org.jrdma.sisci.model.SisciException;

/**
 * Tells whether stores into a {@link RemoteMap} arrived.
 *
 * <p>{@link #tryWrite} and {@link #write} do what has to be done: start, store, check, and again
 * where that is due. Owned by its map; for one thread at a time, but for {@link #close()}. Nothing
 * is allocated. In C: {@code sci_sequence_t}; {@link #close()} is {@code SCIRemoveSequence}.
 */
public final class Sequence extends SisciObject {

    private static final long LONGEST_PAUSE = 20_000_000;

    private final RemoteMap map;
    private final StoreFunctions stores;
    private final long handle;

    /** Whether {@link #start()} must say OK before anything is stored. */
    private boolean mustStart = true;

    private Sequence(RemoteMap map, ObjectHandle handle) {
        super(handle);
        this.map = map;
        this.stores = map.functions().stores();
        this.handle = handle.address().address();
    }

    /** Creates a sequence of a map, which must be held. */
    static Sequence create(RemoteMap map, boolean fast) throws SisciException {
        var functions = map.functions();
        var flags = fast ? functions.library().number(Constant.SCI_FLAG_FAST_BARRIER) : 0;
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
     * Starts this sequence, or starts it again; OK says that stores may follow. In C: {@code
     * SCIStartSequence}.
     */
    public SequenceStatus start() throws SisciException {
        var guard = enter();
        try {
            return stores.startSequence(handle, 0, this);
        } finally {
            guard.exit();
        }
    }

    /**
     * What became of the stores since the last check or start; flushes, and waits for them. In C:
     * {@code SCICheckSequence}.
     */
    public SequenceStatus check() throws SisciException {
        var guard = enter();
        try {
            return stores.checkSequence(handle, 0, this);
        } finally {
            guard.exit();
        }
    }

    /** Drains what this CPU still holds of stores. In C: {@code SCIFlush}. */
    public void flush() {
        var guard = enter();
        try {
            stores.flush(handle, 0);
        } finally {
            guard.exit();
        }
    }

    /** Waits besides until the stores have left. In C: {@code SCIStoreBarrier}. */
    public void storeBarrier() {
        var guard = enter();
        try {
            stores.storeBarrier(handle, 0);
        } finally {
            guard.exit();
        }
    }

    /**
     * Stores once, and says what became of it. Nothing is stored, and nothing has arrived, while
     * the sequence cannot be started. One library call where all is well, {@code SCICheckSequence}.
     *
     * @param offset where in the map
     */
    public SequenceStatus tryWrite(long offset, MemorySegment source) throws SisciException {
        if (mustStart) {
            var status = start();
            if (status != SequenceStatus.OK) {
                return status;
            }
        }
        MemorySegment.copy(source, 0, map.segment(), offset, source.byteSize());
        mustStart = true; // also where the check throws
        var status = check();
        mustStart = status == SequenceStatus.NOT_RETRIABLE || status == SequenceStatus.PENDING;
        return status;
    }

    /**
     * Stores until it has arrived, however often the link fails meanwhile.
     *
     * @param offset where in the map
     * @return how often it was tried: 1 where all was well
     * @throws FabricTimeoutException if it did not arrive in time; the message has the last status.
     *     Parts of it may have arrived
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public int write(long offset, MemorySegment source, Duration timeout)
            throws FabricException, InterruptedIOException {
        var status = tryWrite(offset, source);
        return status == SequenceStatus.OK ? 1 : goOn(offset, source, timeout, status);
    }

    private int goOn(long offset, MemorySegment source, Duration timeout, SequenceStatus last)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        var status = last;
        var pause = 1_000L;
        for (var tries = 2; ; tries++) {
            if (deadline.hasPassed()) {
                throw deadline.missed(
                        String.format(
                                Locale.ROOT,
                                "%,d bytes did not arrive through %s (the last status was %s)",
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
     * Copies memory to the other node, and checks that it arrived. In C: {@code SCIMemCpy} with
     * {@code SCI_FLAG_ERROR_CHECK}, once for each MiB.
     *
     * @param source native memory
     * @throws SisciException with TRANSFER_FAILED if it did not arrive
     * @throws UnsupportedOperationException if the library does not tell the flag's number, which
     *     is not public
     */
    public void copyFrom(MemorySegment source, long offset) throws SisciException {
        var flags = map.functions().library().number(Constant.SCI_FLAG_ERROR_CHECK);
        whileOpen(() -> map.copy(handle, source, offset, flags, RemoteMap.MOST_WRITTEN));
    }

    /** The map that it is of. */
    public RemoteMap map() {
        return map;
    }

    /** The caller must exit the guard. */
    private CallGuard enter() {
        var guard = CallGuard.ofCurrentThread();
        guard.enter();
        if (lifetime().isClosed()) {
            guard.exit();
            throw lifetime().closedException();
        }
        return guard;
    }
}
