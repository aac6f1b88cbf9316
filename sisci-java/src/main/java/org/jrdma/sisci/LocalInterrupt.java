package org.jrdma.sisci;

import java.util.List;
import java.util.function.Function;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.Callbacks;
import org.jrdma.sisci.internal.InterruptFunctions.Created;

/**
 * What the two kinds of interrupts of this node have in common.
 *
 * @param created the interrupt
 * @param lifetime its lifetime
 * @param patience its patience
 * @param events what comes
 */
record LocalInterrupt<E>(Created created, Lifetime lifetime, Patience patience, Events<E> events) {

    /**
     * The node must be held.
     *
     * @param eventsOf makes the place where what comes waits
     * @param listener makes the listener that puts it there
     */
    static <E> LocalInterrupt<E> create(
            Node node,
            InterruptOptions options,
            boolean withData,
            Function<String, Events<E>> eventsOf,
            Function<Events<E>, Object> listener)
            throws SisciException {
        var functions = node.functions();
        var kind = withData ? "data interrupt" : "interrupt";
        var flags = functions.library().bits(options.flags());
        var events = eventsOf.apply("%s of %s".formatted(kind, node));
        var key = Callbacks.register(listener.apply(events));
        Created created;
        try {
            created =
                    functions
                            .interrupts()
                            .create(
                                    withData,
                                    node.address(),
                                    node.adapterNumber(),
                                    options.number().orElse(0),
                                    key,
                                    flags,
                                    () -> "for %s with %s".formatted(kind, options));
        } catch (SisciException | RuntimeException e) {
            Callbacks.forget(key);
            throw e;
        }
        var name = "%s %d of %s".formatted(kind, created.number(), node);
        events.name(name);
        var patience = new Patience(node.leftovers());
        var lifetime =
                new Lifetime(
                        name,
                        List.of(node.ownLifetime()),
                        () -> {
                            try {
                                patience.undo(() ->
                                        functions
                                                .interrupts()
                                                .remove(
                                                        withData,
                                                        created.handle(),
                                                        () -> "for " + name));
                            } finally {
                                Callbacks.forget(key);
                            }
                        });
        lifetime.onClose(events::close);
        return new LocalInterrupt<>(created, lifetime, patience, events);
    }
}
