package org.jrdma.verbs.cm;

import java.util.List;
import java.util.function.Supplier;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.Lifetime;

/**
 * The ownership of an identifier by a route or a request of a peer. The ownership ends when a
 * connection takes over the identifier, or when the owner is closed, which closes the identifier.
 */
final class IdentifierOwnership {

    private final Identifier identifier;
    private final String ownerName;
    private final Lifetime ownership;

    /**
     * Creates the ownership, and registers the owner for leak detection.
     *
     * @param owner the object that is reported as a leak if it becomes unreachable without being
     *     closed
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
     * Returns an exception with the name of the owner if the owner is closed; otherwise returns
     * {@code e}.
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
