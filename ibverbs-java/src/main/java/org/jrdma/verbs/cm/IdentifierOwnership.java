package org.jrdma.verbs.cm;

import java.util.List;
import java.util.function.Supplier;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.Lifetime;

/**
 * The ownership of an identifier by a step on the way to a connection, such as a route or a
 * request. The step closes the identifier unless the connection has taken it over.
 */
final class IdentifierOwnership {

    private final Identifier identifier;
    private final String step;
    private final Lifetime held;

    /**
     * Starts the ownership.
     *
     * @param owner the object that is reported as a leak if it is dropped without being closed
     * @param step the name of the owner in messages
     */
    IdentifierOwnership(Identifier identifier, Object owner, String step) {
        this.identifier = identifier;
        this.step = step;
        var lifetime = identifier.ownLifetime();
        lifetime.hold();
        try {
            held = new Lifetime(step, List.of(lifetime), () -> {});
        } finally {
            lifetime.release();
        }
        Leaks.watch(owner, step, held);
    }

    Identifier identifier() {
        return identifier;
    }

    /** Returns an exception that names the step if the step is closed; otherwise {@code e}. */
    IllegalStateException explained(IllegalStateException e) {
        return held.isClosed() || !identifier.isOpen()
                ? new IllegalStateException(step + " is closed", e)
                : e;
    }

    /**
     * Hands the identifier over to a new owner.
     *
     * @throws IllegalStateException if the identifier is closed
     */
    synchronized <T> T handOver(Supplier<T> newOwner) {
        var made = newOwner.get();
        held.close();
        return made;
    }

    /** The name of the step. */
    @Override
    public String toString() {
        return step;
    }

    /** Closes the identifier, unless it was handed over. */
    synchronized void close() {
        if (!held.isClosed()) {
            identifier.close();
        }
    }
}
