package org.jrdma.sisci;

import java.util.function.Consumer;
import org.jrdma.sisci.internal.Callbacks;
import org.jrdma.sisci.internal.EventQueue;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.RemovalRetry;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * The handle and the number of a new interrupt of this node, before its API object is created.
 * {@link LocalInterrupt} and {@link LocalDataInterrupt} are created from this record.
 *
 * @param handle the handle of the interrupt
 * @param number the number by which peers connect to the interrupt
 */
record CreatedInterruptHandle(ObjectHandle handle, int number) {

    /**
     * Creates an interrupt. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold} the
     * lifetime of the node.
     *
     * @param events the queue that {@code listener} fills; null together with {@code listener} if
     *     the interrupt has no callback
     */
    static <E> CreatedInterruptHandle create(
            NodeHandle node,
            InterruptOptions options,
            boolean withData,
            @Nullable EventQueue<E> events,
            @Nullable Consumer<E> listener)
            throws SisciException {
        var functions = node.functions();
        var kind = withData ? "data interrupt" : "interrupt";
        var flags = functions.library().bits(options.flags());
        return Callbacks.create(
                listener,
                key -> {
                    var created =
                            functions
                                    .interrupts()
                                    .create(
                                            withData,
                                            node.address(),
                                            node.adapter(),
                                            options.number().orElse(0),
                                            key,
                                            flags,
                                            kind + " with " + options);
                    var name = "%s %d of %s".formatted(kind, created.number(), node);
                    RemovalRetry.Removal removal =
                            () -> functions.interrupts().remove(withData, created.handle(), name);
                    if (events == null) {
                        var handle = node.own(name, created.handle(), removal);
                        return new CreatedInterruptHandle(handle, created.number());
                    }
                    events.name(name);
                    var handle =
                            node.own(name, created.handle(), node.lifetime(), key, events, removal);
                    return new CreatedInterruptHandle(handle, created.number());
                });
    }
}
