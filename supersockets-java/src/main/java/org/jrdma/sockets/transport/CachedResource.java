package org.jrdma.sockets.transport;

import java.time.Duration;
import java.util.Optional;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * A resource of this machine, such as a library, that is looked up once and cached. A resource that
 * was found is kept. A failure is cached for ten seconds, during which each request fails with the
 * same reason. Safe for use by multiple threads.
 */
final class CachedResource<T> {

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

    CachedResource(Find<T> find) {
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

    /**
     * Returns the reason why the resource cannot be found; empty if it was found. Looks for the
     * resource if necessary.
     */
    Optional<String> whyNot() {
        try {
            get();
            return Optional.empty();
        } catch (FabricException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }
}
