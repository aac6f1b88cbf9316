package org.jrdma.verbs.cm;

import java.util.List;
import java.util.function.Supplier;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.Lifetime;

/**
 * Holds an {@link Identifier} on behalf of a route or of a peer's request. The ownership ends when
 * a connection takes over the identifier, or when the owner is closed, which closes the identifier.
 */
final class IdentifierOwnership {

    private final Identifier identifier;
    private final String ownerName;
    private final Lifetime ownership;

    /**
     * Creates the ownership. If the owner becomes unreachable without being closed, a leak is
     * reported.
     *
     * @param owner the object that is reported as a leak
     * @param ownerName the name of the owner in messages
     */
    IdentifierOwnership(Identifier identifier, Object owner, String ownerName) {
        this.identifier = identifier;
        this.ownerName = ownerName;
        var lifetime = identifier.ownLifetime();
        try (var _ = lifetime.held()) {
            ownership = new Lifetime(ownerName, List.of(lifetime), () -> {});
        }
        Leaks.watch(owner, ownerName, ownership);
    }

    Identifier identifier() {
        return identifier;
    }

    /**
     * If the owner is closed, returns an exception that names the owner; otherwise returns {@code
     * e}.
     */
    IllegalStateException explained(IllegalStateException e) {
        return ownership.isClosed() || !identifier.isOpen()
                ? new IllegalStateException(ownerName + " is closed", e)
                : e;
    }

    /**
     * Transfers the identifier to a new owner.
     *
     * @param newOwner creates the new owner, usually a connection
     * @throws IllegalStateException if the identifier is closed
     */
    synchronized <T> T handOver(Supplier<T> newOwner) {
        var result = newOwner.get();
        ownership.close();
        return result;
    }

    /** Returns the name of the owner. */
    @Override
    public String toString() {
        return ownerName;
    }

    /** Closes the identifier, unless it was transferred to a new owner. */
    synchronized void close() {
        if (!ownership.isClosed()) {
            identifier.close();
        }
    }
}
