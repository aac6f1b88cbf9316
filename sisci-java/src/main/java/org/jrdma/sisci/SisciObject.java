package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.sisci.internal.SisciFunctions;

/**
 * Something of libsisci's that must be closed.
 *
 * <p>The library refuses to remove what is in use, also by a peer. {@link #close()} therefore
 * closes what depends on the object first, and then tries for up to five seconds; {@link
 * #close(Duration)} says for how long. What is still in use then is logged, and tried once more
 * when the {@link Node} is closed: by force where SISCI knows one, which is with segments.
 */
public abstract sealed class SisciObject extends NativeObject
        permits Node,
                LocalSegment,
                RemoteSegment,
                SegmentMap,
                Sequence,
                DmaQueue,
                DmaChannel,
                Interrupt,
                InterruptFlag,
                RemoteInterrupt,
                DataInterrupt,
                RemoteDataInterrupt,
                PcieRequester {

    private final Patience patience;

    SisciObject(MemorySegment address, Lifetime lifetime, Patience patience) {
        super(address, lifetime);
        this.patience = patience;
    }

    /**
     * Closes this, and goes on trying for so long while the library answers that it is in use. What
     * depends on it has a patience of its own.
     */
    public final void close(Duration busyPatience) {
        patience.duration(busyPatience);
        close();
    }

    /** What {@link #inCall} runs. */
    @FunctionalInterface
    interface Call<T, E extends Exception> {
        T run() throws E;
    }

    /** One without a result. */
    @FunctionalInterface
    interface VoidCall<E extends Exception> {
        void run() throws E;
    }

    /** Runs a call that this must stay open for. */
    final <T, E extends Exception> T inCall(Call<T, E> call) throws E {
        lifetime().hold();
        try {
            return call.run();
        } finally {
            lifetime().release();
        }
    }

    /** Runs a call that this must stay open for. */
    final <E extends Exception> void whileOpen(VoidCall<E> call) throws E {
        lifetime().hold();
        try {
            call.run();
        } finally {
            lifetime().release();
        }
    }

    /** Refuses an object of one library for one of another, where its handle means nothing. */
    final void checkLibrary(SisciFunctions own, SisciFunctions others, String other) {
        if (own.library().identity() != others.library().identity()) {
            throw new IllegalArgumentException(
                    "%s is of %s, and %s of %s"
                            .formatted(this, own.library(), other, others.library()));
        }
    }

    final Lifetime ownLifetime() {
        return lifetime();
    }
}
