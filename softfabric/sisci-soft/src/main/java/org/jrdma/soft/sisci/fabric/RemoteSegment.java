package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to a segment of another node or of this node, or to a group of segments. In C:
 * {@code sci_remote_segment_t}. Safe for use by multiple threads.
 */
public final class RemoteSegment
        implements IncomingPeerMessageDispatcher.ConnectedObject, Topology.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(RemoteSegment.class);
    private static final int CONNECT_FLAGS = SCI_FLAG_USE_CALLBACK() | SCI_FLAG_BROADCAST();

    private final SciDescriptor descriptor;
    private final ProcessContext context;
    private final int node;
    private final int id;
    private final int adapter;
    private final EventQueue<SegmentEvent> events;
    private final SegmentLink link;

    /**
     * The SEGMENT_GONE messages that arrived before their connection was added, by the number of
     * the connection. The value is true if the owner has disconnected this process.
     */
    private final Map<Integer, Boolean> early = new HashMap<>();

    private final Object connecting = new Object();

    private RemoteSegment(
            SciDescriptor descriptor,
            int node,
            int id,
            int adapter,
            EventQueue.@Nullable Callback<SegmentEvent> callback) {
        this.descriptor = descriptor;
        this.context = descriptor.context();
        this.node = node;
        this.id = id;
        this.adapter = adapter;
        this.events = new EventQueue<>(context.callbacks(), callback);
        this.link =
                new SegmentLink(
                        node == DIS_BROADCAST_NODEID_GROUP_ALL(), node == context.fabric().node());
    }

    /**
     * Connects without waiting for the segment to become available. In C: {@code
     * SCIConnectSegment}.
     */
    public static RemoteSegment connect(
            SciDescriptor descriptor,
            int node,
            int id,
            int adapter,
            EventQueue.@Nullable Callback<SegmentEvent> callback,
            int flags) {
        FlagChecks.checkAllowed(flags, CONNECT_FLAGS);
        var topology = descriptor.context().topology();
        topology.checkAdapter(adapter);
        if (FlagChecks.has(flags, SCI_FLAG_BROADCAST())) {
            throwIf(node != DIS_BROADCAST_NODEID_GROUP_ALL(), SCI_ERR_ILLEGAL_NODEID());
        } else {
            topology.checkNode(node);
        }
        topology.checkLink(node, adapter);
        return descriptor.add(() -> {
            var segment = new RemoteSegment(descriptor, node, id, adapter, callback);
            try {
                segment.connect();
                return segment;
            } catch (Throwable e) {
                segment.close();
                throw e;
            }
        });
    }

    private void connect() {
        if (link.isGroup()) {
            connectToMembers();
            throwIf(link.connections().isEmpty(), SCI_ERR_NO_SUCH_SEGMENT());
        } else {
            var entry = context.fabric().require(node, ObjectAnnouncementFile.Kind.SEGMENT, id);
            add(RemoteSegmentConnection.connect(context, this, entry, request(entry, false)));
        }
        connected();
    }

    private IntFunction<Message> request(ObjectAnnouncementFile entry, boolean toGroup) {
        return number ->
                Message.of(Kind.CONNECT_SEGMENT, entry.number(), adapter, number, toGroup ? 1 : 0);
    }

    private void connected() {
        context.topology().add(this);
        topologyChanged(); // Detects a link that was cut before add(this).
        link.connections().forEach(this::checkClosed);
    }

    /**
     * Connects to memory of a device.
     *
     * @param entry the file of the device
     * @param request the request to the process that lends the device
     */
    static RemoteSegment connect(
            SciDescriptor descriptor,
            ObjectAnnouncementFile entry,
            int id,
            EventQueue.@Nullable Callback<SegmentEvent> callback,
            Message request) {
        return descriptor.add(() -> {
            var segment = new RemoteSegment(descriptor, entry.node(), id, 0, callback);
            segment.add(
                    RemoteSegmentConnection.connect(
                            descriptor.context(), segment, entry, _ -> request));
            segment.connected();
            return segment;
        });
    }

    /**
     * Connects to the segment at an address of a node. The address must be the I/O address of a
     * segment, which queries return, because the fabric has no other memory. In C: {@code
     * SCIConnectSCISpace}.
     */
    public static RemoteSegment connectSpace(
            SciDescriptor descriptor, int node, int adapter, long address, long length, int flags) {
        FlagChecks.checkNone(flags);
        var topology = descriptor.context().topology();
        topology.checkAdapter(adapter);
        topology.checkNode(node);
        topology.checkLink(node, adapter);
        throwIf(length <= 0, SCI_ERR_SIZE_ALIGNMENT());
        var id = descriptor.context().fabric().findSpace(node, address);
        var segment = connect(descriptor, node, id, adapter, null, 0);
        if (segment.bytes() < length) {
            segment.disconnect();
            throw new SciException(SCI_ERR_CONNECTION_REFUSED());
        }
        segment.link.limit(length);
        return segment;
    }

    private synchronized void add(RemoteSegmentConnection connection) {
        try {
            link.add(connection);
        } catch (Throwable e) {
            context.objects().remove(connection.number());
            connection.close();
            throw e;
        }
        var isDisconnected = early.remove(connection.number());
        if (isDisconnected != null) {
            gone(connection.number(), isDisconnected);
        }
        checkClosed(connection);
    }

    /** Handles an owner that ended before {@link #lost} could find this connection. */
    private void checkClosed(RemoteSegmentConnection connection) {
        if (connection.connection().isClosed()) {
            lose(connection, SCI_CB_LOST());
        }
    }

    /** Connects to those members of the group to which this process is not connected yet. */
    private void connectToMembers() {
        synchronized (connecting) {
            for (var entry : context.fabric().entries()) {
                var isMember =
                        entry.kind() == ObjectAnnouncementFile.Kind.SEGMENT && entry.number() == id;
                if (isMember
                        && link.connections().stream().noneMatch(to -> to.entry().equals(entry))
                        && context.topology().isLinked(entry.node(), adapter)) {
                    try {
                        add(
                                RemoteSegmentConnection.connect(
                                        context, this, entry, request(entry, true)));
                    } catch (SciException e) {
                        LOG.debug(
                                "Cannot connect to {} as a member of group {}: {}",
                                entry,
                                id,
                                e.code());
                    }
                }
            }
        }
    }

    @Override
    public void topologyChanged() {
        if (link.isGroup() && link.state() == SegmentLink.State.UP) {
            connectToMembers();
        }
        synchronized (this) {
            var linked = context.topology().isLinked(node, adapter);
            if (!linked && link.state() == SegmentLink.State.UP) {
                link.state(SegmentLink.State.DOWN);
                link.connections().forEach(RemoteSegmentConnection::cut);
                context.writeBuffers().reset(link);
                report(SCI_CB_NOT_OPERATIONAL());
            } else if (linked && link.state() == SegmentLink.State.DOWN) {
                link.connections().forEach(RemoteSegmentConnection::restore);
                context.writeBuffers().reset(link);
                link.state(SegmentLink.State.UP);
                report(SCI_CB_OPERATIONAL());
            }
            if (link.isGroup() && link.state() == SegmentLink.State.UP) {
                for (var connection : link.connections()) {
                    if (context.topology().isLinked(connection.entry().node(), adapter)) {
                        connection.restore();
                    } else {
                        connection.cut();
                    }
                }
            }
        }
    }

    @Override
    public void received(Message message) {
        if (message.kind() == Kind.SEGMENT_GONE) {
            gone(message.subject(), message.first() != 0);
        }
    }

    @Override
    public void lost(Connection ended) {
        for (var connection : link.connections()) {
            if (connection.connection() == ended) {
                lose(connection, SCI_CB_LOST());
            }
        }
    }

    /** Handles the owner's request to disconnect, or the removal of the segment. */
    private synchronized void gone(int number, boolean isDisconnected) {
        var found = link.connections().stream().filter(to -> to.number() == number).findFirst();
        if (found.isEmpty()) {
            early.merge(number, isDisconnected, Boolean::logicalOr);
        } else if (isDisconnected) {
            lose(found.get(), SCI_CB_DISCONNECT());
        } else {
            report(SCI_CB_DISCONNECT());
        }
    }

    private synchronized void lose(RemoteSegmentConnection connection, int reason) {
        if (link.isGroup()) {
            link.remove(connection);
        } else if (link.state() != SegmentLink.State.LOST) {
            link.state(SegmentLink.State.LOST);
            connection.lose();
            report(reason);
        }
        context.objects().remove(connection.number());
    }

    private void report(int reason) {
        events.put(new SegmentEvent(reason, node, adapter));
    }

    public int node() {
        return node;
    }

    public int id() {
        return id;
    }

    /** Returns the size in bytes; for a group, the size of the smallest member. */
    public long bytes() {
        return link.bytes();
    }

    public EventQueue<SegmentEvent> events() {
        return events;
    }

    SegmentLink link() {
        return link;
    }

    /**
     * Returns the address that queries report for the memory; 0 if the segment has no connection.
     */
    public long address() {
        var connections = link.connections();
        return connections.isEmpty() ? 0 : connections.getFirst().window().address();
    }

    /** Maps a part of the segment. In C: {@code SCIMapRemoteSegment}. */
    public SegmentMap map(long offset, long length, int flags) {
        return SegmentMap.ofRemote(link, context, offset, length, flags);
    }

    /** Disconnects from the segment. In C: {@code SCIDisconnectSegment}. */
    public void disconnect() {
        link.disconnect();
        close();
        descriptor.remove();
    }

    private void close() {
        context.topology().remove(this);
        for (var connection : link.connections()) {
            context.objects().remove(connection.number());
        }
        link.close();
        events.close();
    }

    /**
     * Disconnects all maps from the memory, because the program may access them after this process
     * has left the fabric.
     */
    @Override
    public void abandon() {
        link.connections().forEach(RemoteSegmentConnection::lose);
    }
}
