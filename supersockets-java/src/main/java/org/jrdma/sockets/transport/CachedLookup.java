package org.jrdma.sockets.transport;

import java.time.Duration;
import java.util.Optional;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * What a machine may have or not: found once, and kept; a reason why it cannot be is kept for some
 * seconds. Safe for use by several threads.
 */
final class CachedLookup<T> {

    private static final Duration MEMORY = Duration.ofSeconds(10);

    private final Find<T> find;

    // Guarded by this
    private @Nullable T found;
    private String refusal = "";
    private Deadline refusedUntil = Deadline.after(Duration.ZERO);

    /** Finds something, or says why not. */
    @FunctionalInterface
    public interface Find<T> {
        T find() throws FabricException;
    }

    CachedLookup(Find<T> find) {
        this.find = find;
    }

    synchronized T get() throws FabricException {
        if (found != null) {
            return found;
        }
        if (!refusedUntil.hasPassed()) {
            throw new FabricException(refusal);
        }
        try {
            found = find.find();
            return found;
        } catch (FabricException e) {
            refusal = String.valueOf(e.getMessage());
            refusedUntil = Deadline.after(MEMORY);
            throw e;
        }
    }

    /** Why it cannot be found, if that is so. */
    Optional<String> whyNot() {
        try {
            get();
            return Optional.empty();
        } catch (FabricException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }
}
