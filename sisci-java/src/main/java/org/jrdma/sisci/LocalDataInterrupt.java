package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.internal.EventQueue;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.model.SisciException;

/**
 * An interrupt of this node through which peers send small messages.
 *
 * <p>The library passes each message to this object on arrival, and then treats the message as
 * received. This object queues up to 16 MiB of messages until the program receives them. If the
 * queue overflows, the oldest messages are lost, and {@link #receive} reports the loss. To avoid
 * losses, receive messages as fast as they arrive, or let the sender wait for acknowledgements of
 * the receiving program.
 *
 * <p>Owned by its {@link Node}; safe for use by multiple threads. In C: {@code
 * sci_local_data_interrupt_t}; {@link #close()} is {@code SCIRemoveDataInterrupt}.
 */
public final class LocalDataInterrupt extends SisciObject {

    private static final long MAX_QUEUED_BYTES = 16 << 20;

    /** The approximate overhead in bytes of a queued message, which counts towards the limit. */
    private static final int OVERHEAD_BYTES = 64;

    private final int number;
    private final EventQueue<byte[]> events;

    private LocalDataInterrupt(CreatedInterruptHandle created, EventQueue<byte[]> events) {
        super(created.handle());
        this.number = created.number();
        this.events = events;
    }

    /**
     * Creates a data interrupt. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold} the
     * lifetime of the node.
     */
    static LocalDataInterrupt create(NodeHandle node, InterruptOptions options)
            throws SisciException {
        if (options.shared() || options.counting() || options.awaited()) {
            throw new IllegalArgumentException(
                    "Cannot create a data interrupt with "
                            + options
                            + ": the options shared, counting and awaited are not supported");
        }
        var events =
                new EventQueue<byte[]>(
                        "data interrupt of " + node,
                        data -> OVERHEAD_BYTES + data.length,
                        MAX_QUEUED_BYTES);
        return new LocalDataInterrupt(
                CreatedInterruptHandle.create(node, options, true, events, events::put), events);
    }

    /** Returns the number by which peers connect to this interrupt. */
    public int number() {
        return number;
    }

    /**
     * Waits for the next message. Messages are returned in the order of their arrival. Each message
     * is delivered to only one caller or listener.
     *
     * @throws FabricTimeoutException if no message arrived in time
     * @throws FabricException once, if messages were lost because they were not received in time;
     *     the next call continues with the remaining messages
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this interrupt is closed, before or during the wait
     */
    public byte[] receive(Duration timeout) throws FabricException, InterruptedIOException {
        return events.take(Deadline.after(timeout), "No message for " + this);
    }

    /**
     * Calls a listener for each message until this interrupt is closed. The calls are made
     * sequentially on a dedicated virtual thread. The listener may close the interrupt. Exceptions
     * of the listener are logged. If messages are lost because the listener is too slow, their
     * number is logged.
     */
    public void onMessage(Consumer<byte[]> listener) {
        events.listen(listener);
    }
}
