package org.jrdma.verbs.cm;

import java.util.List;
import java.util.function.Supplier;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.Lifetime;

/**
 * The ownership of an identifier by a route or a connect request, until a connection takes over the
 * identifier. Closing the owner closes an identifier that was not handed over.
 */
final class IdentifierOwnership {

    private final Identifier identifier;
    private final String ownerName;
    private final Lifetime ownership;

    /**
     * Starts the ownership.
     *
     * @param owner the object that is reported as a leak if it becomes unreachable without being
     *     closed
     * @param ownerName the name of the owner in messages
     */
    IdentifierOwnership(Identifier identifier, Object owner, String ownerName) {
        this.identifier = identifier;
        this.ownerName = ownerName;
        var lifetime = identifier.ownLifetime();
        lifetime.hold();
        try {
            ownership = new Lifetime(ownerName, List.of(lifetime), () -> {});
        } finally {
            lifetime.release();
        }
        Leaks.watch(owner, ownerName, ownership);
    }

    Identifier identifier() {
        return identifier;
    }

    /** Returns an exception that names the owner if the owner is closed; otherwise {@code e}. */
    IllegalStateException explained(IllegalStateException e) {
        return ownership.isClosed() || !identifier.isOpen()
                ? new IllegalStateException(ownerName + " is closed", e)
                : e;
    }

    /**
     * Hands the identifier over to a new owner.
     *
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

    /** Closes the identifier unless it was handed over. */
    synchronized void close() {
        if (!ownership.isClosed()) {
            identifier.close();
        }
    }
}
