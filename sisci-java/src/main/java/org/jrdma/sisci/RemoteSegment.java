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
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.Callbacks;
import org.jrdma.sisci.internal.EventQueue;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.QueryStructure;
import org.jrdma.sisci.internal.SisciConstant;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciException;

/**
 * A connection to a segment of another node, or of this node.
 *
 * <p>Owned by its {@link Node}, or by the borrowed device that it belongs to; safe for use by
 * multiple threads. In C: {@code sci_remote_segment_t}; {@link #close()} is {@code
 * SCIDisconnectSegment}.
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

    /** The state of the link to a remote segment. */
    public enum Link {
        /** The link is up, and stores arrive. */
        OPERATIONAL,
        /** The link is down, perhaps temporarily: stores are lost, and loads return all ones. */
        NOT_OPERATIONAL,
        /** The connection is lost permanently: close the segment and connect again. */
        LOST
    }

    /**
     * The part of the connection's state that the callbacks use. It does not refer to the {@link
     * RemoteSegment} itself, so that a leaked segment can be detected.
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
                case CONNECTED, DISCONNECTED, UNKNOWN -> {} // Other events do not concern the link.
            }
            events.put(event);
        }
    }

    /**
     * Connects to a segment or a multicast group. The caller must {@linkplain
     * org.jrdma.ffi.Lifetime#hold hold} the lifetime of the node.
     */
    static RemoteSegment connect(NodeHandle node, int peer, int id, boolean isGroup)
            throws SisciException {
        var name =
                isGroup
                        ? "group %d from %s".formatted(id, node)
                        : "segment %d of node %d from %s".formatted(id, peer, node);
        var functions = node.functions().segments();
        var flags =
                isGroup ? node.functions().library().number(SisciConstant.SCI_FLAG_BROADCAST) : 0;
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
                            node,
                            node.lifetime(),
                            handle,
                            listener,
                            peer,
                            id,
                            functions.remoteSize(handle),
                            state);
                });
    }

    /**
     * Connects to a BAR or a device segment of a borrowed device. The caller must {@linkplain
     * org.jrdma.ffi.Lifetime#hold hold} the lifetime of the device, which owns the result.
     */
    static RemoteSegment connectOfDevice(ObjectHandle device, int id, int memoryType, String name)
            throws SisciException {
        var node = device.node();
        var segments = node.functions().segments();
        var state = new State(name);
        return Callbacks.create(
                state::event,
                listener -> {
                    var handle =
                            node.functions()
                                    .smartIo()
                                    .connectSegment(
                                            device.address(), id, memoryType, listener, name);
                    return of(
                            node,
                            device.lifetime(),
                            handle,
                            listener,
                            segments.remoteNodeId(handle),
                            id,
                            segments.remoteSize(handle),
                            state);
                });
    }

    /**
     * Connects to memory by its physical address. The caller must {@linkplain
     * org.jrdma.ffi.Lifetime#hold hold} the lifetime of the node.
     */
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
        // The key of the listener is 0: a connection by physical address reports no events.
        return of(node, node.lifetime(), handle, 0, peer, 0, bytes, new State(name));
    }

    private static RemoteSegment of(
            NodeHandle node,
            Lifetime owner,
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
                        owner,
                        listener,
                        state.events,
                        () -> segments.disconnect(handle, name)),
                peer,
                id,
                bytes,
                state);
    }

    /**
     * Returns the id of the node that owns the segment. In C: {@code SCIGetRemoteSegmentNodeId}.
     */
    public int nodeId() {
        return peer;
    }

    /**
     * Returns the id of the segment; the number of the BAR for a BAR of a borrowed device; 0 for a
     * connection by physical address. In C: {@code SCIGetRemoteSegmentId}.
     */
    public int id() {
        return id;
    }

    /** Returns the size of the segment in bytes. In C: {@code SCIGetRemoteSegmentSize}. */
    public long byteSize() {
        return bytes;
    }

    /**
     * Returns the state of the link, as last reported by the library. The event {@link
     * SegmentEvent.Type#DISCONNECTED} does not change this state, because it can mean that the
     * owner has disconnected this side, or only that the owner requests a disconnect. Therefore,
     * the state can be OPERATIONAL although stores no longer arrive.
     */
    public Link link() {
        return state.link;
    }

    /** Returns true if the link has ever failed. */
    boolean hasFailed() {
        return state.failed;
    }

    /** Maps the whole segment for loads and stores. */
    public RemoteMap map() throws SisciException {
        return map(MapOptions.WHOLE);
    }

    /**
     * Maps the segment, or a part of it. In C: {@code SCIMapRemoteSegment}.
     *
     * @throws SisciException if the adapter's address window is full, or the driver requires
     *     another alignment
     */
    public RemoteMap map(MapOptions options) throws SisciException {
        return inCall(() -> new RemoteMap(SegmentMap.Mapping.of(true, handle(), bytes, options)));
    }

    /**
     * Returns the address of the segment on the I/O bus of this node. In C: {@code
     * SCI_Q_REMOTE_SEGMENT_IOADDR}.
     */
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
     * Waits for the next event of this connection. Each event is delivered to only one caller or
     * listener.
     *
     * @throws FabricTimeoutException if no event occurred in time
     * @throws FabricException once, if events were lost because they were not taken in time; the
     *     next call continues with the remaining events
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this segment is closed, before or during the wait
     */
    public SegmentEvent nextEvent(Duration timeout) throws FabricException, InterruptedIOException {
        return state.events.take(Deadline.after(timeout), "No event of " + this);
    }

    /**
     * Calls a listener for each event until this segment is closed. The calls are made sequentially
     * on a dedicated virtual thread. The listener may close the segment. If another thread closes
     * it, a running call of the listener continues. Exceptions of the listener are logged.
     */
    public void onEvent(Consumer<SegmentEvent> listener) {
        state.events.listen(listener);
    }
}
