package org.jrdma.verbs.cm;

import java.util.function.Supplier;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.Lifetime;

/**
 * Whose an identifier is: that of a step on the way to a connection, which closes it, until the
 * connection takes it over.
 */
final class Custody {

    private final Identifier identifier;
    private final String name;
    private final Lifetime held;

    /**
     * Begins.
     *
     * @param step who is reported if it is dropped before the end
     */
    Custody(Identifier identifier, Object step, String name) {
        this.identifier = identifier;
        this.name = name;
        this.held = identifier.dependent(name);
        Leaks.watch(step, name, held);
    }

    Identifier identifier() {
        return identifier;
    }

    /** What to say of something that cannot be done for it, if that is since it is closed. */
    IllegalStateException explained(IllegalStateException e) {
        return held.isClosed() || !identifier.isOpen()
                ? new IllegalStateException(name + " is closed", e)
                : e;
    }

    /**
     * Leaves the identifier to what is made of it.
     *
     * @throws IllegalStateException if it was closed before
     */
    synchronized <T> T handOver(Supplier<T> maker) {
        var made = maker.get();
        held.close();
        return made;
    }

    /** What it is the identifier of. */
    @Override
    public String toString() {
        return name;
    }

    /** Closes the identifier, unless it is another's by now. */
    synchronized void close() {
        if (!held.isClosed()) {
            identifier.close();
        }
    }
}
