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
 * An interrupt of this node by which peers send small messages.
 *
 * <p>The library hands over each message as it comes, and counts it as taken. Up to 16 MiB wait
 * here for whoever receives or listens; beyond that the oldest are lost, of which {@link #receive}
 * tells. Who must lose nothing takes them as fast as they come, or has the sender wait for answers.
 *
 * <p>Owned by its {@link Node}; safe for use by several threads. In C: {@code
 * sci_local_data_interrupt_t}; {@link #close()} is {@code SCIRemoveDataInterrupt}.
 */
public final class DataInterrupt extends SisciObject {

    private static final long MOST_WAITING_BYTES = 16 << 20;

    /** What keeping one costs beside its data, about. */
    private static final int MESSAGE_BYTES = 64;

    private final int number;
    private final EventQueue<byte[]> events;

    private DataInterrupt(LocalInterrupt created, EventQueue<byte[]> events) {
        super(created.handle());
        this.number = created.number();
        this.events = events;
    }

    /** Creates an interrupt. The node must be held. */
    static DataInterrupt create(NodeHandle node, InterruptOptions options) throws SisciException {
        if (options.shared() || options.counting()) {
            throw new IllegalArgumentException(
                    "An interrupt with data is neither shared nor counting: " + options);
        }
        var events =
                new EventQueue<byte[]>(
                        "data interrupt of " + node,
                        data -> MESSAGE_BYTES + data.length,
                        MOST_WAITING_BYTES);
        return new DataInterrupt(
                LocalInterrupt.create(node, options, true, events, events::put), events);
    }

    /** The number by which peers connect to it. */
    public int number() {
        return number;
    }

    /**
     * Waits for a message. Each goes to one caller, or to one listener, in the order in which they
     * came.
     *
     * @throws FabricTimeoutException if none came in time
     * @throws FabricException once for messages that were lost because nobody took them; the next
     *     call goes on with those that came after
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if it is closed, before or meanwhile
     */
    public byte[] receive(Duration timeout) throws FabricException, InterruptedIOException {
        return events.take(Deadline.after(timeout), "No message for " + this);
    }

    /**
     * Calls {@code listener} for each message from now until the interrupt is closed, one after the
     * other, on a virtual thread of its own. It may close the interrupt. What it throws is logged,
     * and so are messages that were lost because it was too slow.
     */
    public void onMessage(Consumer<byte[]> listener) {
        events.listen(listener);
    }
}
