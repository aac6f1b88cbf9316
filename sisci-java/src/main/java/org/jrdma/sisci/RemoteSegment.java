package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Consumer;
import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.internal.Callbacks;
import org.jrdma.sisci.internal.Constant;
import org.jrdma.sisci.internal.EventQueue;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.QueryStructure;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciException;

/**
 * A segment of a node, this one or another, that this side is connected to.
 *
 * <p>Owned by its {@link Node}; safe for use by several threads. In C: {@code
 * sci_remote_segment_t}; {@link #close()} is {@code SCIDisconnectSegment}.
 */
public final class RemoteSegment extends SisciObject {

    private final int peer;
    private final int id;
    private final long bytes;
    private final State state;

    private RemoteSegment(ObjectHandle handle, int peer, int id, long bytes, State state) {
        super(handle);
        this.peer = peer;
        this.id = id;
        this.bytes = bytes;
        this.state = state;
    }

    /** How it is with the connection. */
    public enum Link {
        /** Stores arrive. */
        OPERATIONAL,
        /** Stores are lost and loads give all ones, maybe for a while. */
        NOT_OPERATIONAL,
        /** The same for good: close it, and connect again. */
        LOST
    }

    /**
     * The state that callbacks need. Separate from the segment, so that a leaked one can be
     * detected.
     */
    private static final class State {

        final EventQueue<SegmentEvent> events;
        volatile Link link = Link.OPERATIONAL;
        volatile boolean failed;

        State(String name) {
            this.events = new EventQueue<>(name);
        }

        void event(SegmentEvent event) {
            switch (event.type()) {
                case OPERATIONAL -> link = Link.OPERATIONAL;
                case NOT_OPERATIONAL -> {
                    failed = true;
                    link = Link.NOT_OPERATIONAL;
                }
                case LOST -> {
                    failed = true;
                    link = Link.LOST;
                }
                case CONNECTED, DISCONNECTED, UNKNOWN -> {} // say nothing of the link
            }
            events.put(event);
        }
    }

    /** Connects to a segment or a group. The node must be held. */
    static RemoteSegment connect(NodeHandle node, int peer, int id, boolean isGroup)
            throws SisciException {
        var name =
                isGroup
                        ? "group %d from %s".formatted(id, node)
                        : "segment %d of node %d from %s".formatted(id, peer, node);
        var functions = node.functions().segments();
        var flags = isGroup ? node.functions().library().number(Constant.SCI_FLAG_BROADCAST) : 0;
        var state = new State(name);
        return Callbacks.create(
                state::event,
                listener -> {
                    var handle =
                            functions.connect(
                                    node.address(),
                                    peer,
                                    id,
                                    node.adapter(),
                                    listener,
                                    flags,
                                    name);
                    return of(
                            node, handle, listener, peer, id, functions.remoteSize(handle), state);
                });
    }

    /** Connects to memory by its address. The node must be held. */
    static RemoteSegment connectSpace(NodeHandle node, int peer, long physical, long bytes)
            throws SisciException {
        var name =
                String.format(
                        Locale.ROOT,
                        "%,d bytes at 0x%x of node %d from %s",
                        bytes,
                        physical,
                        peer,
                        node);
        var handle =
                node.functions()
                        .segments()
                        .connectSpace(node.address(), peer, node.adapter(), physical, bytes, name);
        return of(node, handle, 0, peer, 0, bytes, new State(name)); // there is no callback
    }

    private static RemoteSegment of(
            NodeHandle node,
            MemorySegment handle,
            long listener,
            int peer,
            int id,
            long bytes,
            State state) {
        var segments = node.functions().segments();
        var name = state.events.toString();
        return new RemoteSegment(
                node.own(
                        name,
                        handle,
                        node.lifetime(),
                        listener,
                        state.events,
                        () -> segments.disconnect(handle, name)),
                peer,
                id,
                bytes,
                state);
    }

    /** The node that it belongs to. In C: {@code SCIGetRemoteSegmentNodeId}. */
    public int nodeId() {
        return peer;
    }

    /**
     * Its number there; 0 for what was connected to by its address. In C: {@code
     * SCIGetRemoteSegmentId}.
     */
    public int id() {
        return id;
    }

    /** Its size. In C: {@code SCIGetRemoteSegmentSize}. */
    public long byteSize() {
        return bytes;
    }

    /**
     * How it is with the connection, as far as the library has told of the link. That the owner has
     * put this side out is an event, {@link SegmentEvent.Type#DISCONNECTED}, which says the same as
     * where the owner only asks it to leave; so this stays OPERATIONAL, though nothing arrives.
     */
    public Link link() {
        return state.link;
    }

    /** Whether its link has ever failed. */
    boolean hasFailed() {
        return state.failed;
    }

    /** Maps it whole. */
    public RemoteMap map() throws SisciException {
        return map(MapOptions.WHOLE);
    }

    /**
     * Maps it, or a part. In C: {@code SCIMapRemoteSegment}.
     *
     * @throws SisciException if the adapter's window is full, or the driver wants another alignment
     */
    public RemoteMap map(MapOptions options) throws SisciException {
        return inCall(() -> new RemoteMap(SegmentMap.Mapping.of(true, handle(), bytes, options)));
    }

    /** Its address on the I/O bus of this side. In C: {@code SCI_Q_REMOTE_SEGMENT_IOADDR}. */
    public long ioAddress() throws SisciException {
        return inCall(() ->
                functions()
                        .nodes()
                        .query(
                                sisci_query.SCI_Q_REMOTE_SEGMENT,
                                sisci_query.SCI_Q_REMOTE_SEGMENT_IOADDR,
                                address(),
                                QueryStructure.REMOTE_SEGMENT,
                                this));
    }

    /**
     * Waits for something to happen to it. Each event goes to one caller, or to one listener.
     *
     * @throws FabricTimeoutException if nothing happened in time
     * @throws FabricException once for events that were lost because nobody took them; the next
     *     call goes on with those that came after
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if it is closed, before or meanwhile
     */
    public SegmentEvent nextEvent(Duration timeout) throws FabricException, InterruptedIOException {
        return state.events.take(Deadline.after(timeout), "No event of " + this);
    }

    /**
     * Calls {@code listener} for each event from now until the segment is closed, one after the
     * other, on a virtual thread of its own. It may close the segment; where another thread does, a
     * call that has begun goes on. What it throws is logged.
     */
    public void onEvent(Consumer<SegmentEvent> listener) {
        state.events.listen(listener);
    }
}
