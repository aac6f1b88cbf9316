package org.jrdma.sockets.transport;

import java.time.Duration;
import java.util.Optional;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * A resource of this machine that is found once and kept. If it cannot be found, the reason is
 * cached for some seconds. Safe for use by multiple threads.
 */
final class CachedLookup<T> {

    private static final Duration FAILURE_LIFETIME = Duration.ofSeconds(10);

    private final Find<T> find;

    // Guarded by this
    private @Nullable T found;
    private String failure = "";
    private Deadline failureDeadline = Deadline.after(Duration.ZERO);

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
        if (!failureDeadline.hasPassed()) {
            throw new FabricException(failure);
        }
        try {
            found = find.find();
            return found;
        } catch (FabricException e) {
            failure = String.valueOf(e.getMessage());
            failureDeadline = Deadline.after(FAILURE_LIFETIME);
            throw e;
        }
    }

    /** Returns why the resource cannot be found; empty if it can. */
    Optional<String> whyNot() {
        try {
            get();
            return Optional.empty();
        } catch (FabricException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }
}
