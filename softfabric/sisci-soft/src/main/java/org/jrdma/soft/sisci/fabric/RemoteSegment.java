package org.jrdma.soft.sisci.fabric;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Entry;
import org.jrdma.soft.sisci.host.Mapping;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A segment of another node, or of this one, that a program is connected to; or a group of them. In
 * C: {@code sci_remote_segment_t}. Safe for use by several threads.
 */
public final class RemoteSegment {

    private static final Logger LOG = LoggerFactory.getLogger(RemoteSegment.class);
    private static final int CONNECT_FLAGS =
            sisci_h.SCI_FLAG_USE_CALLBACK() | sisci_h.SCI_FLAG_BROADCAST();

    /** How it is with the way there. */
    enum Link {
        UP,
        DOWN,
        LOST
    }

    private final Descriptor descriptor;
    private final Member member;
    private final int node;
    private final int id;
    private final int adapter;
    private final Outlet<SegmentEvent> events;
    private final List<Target> targets = new CopyOnWriteArrayList<>();

    /** Members of the group that have ended; who copies to all may still be at it. */
    private final List<Target> former = new CopyOnWriteArrayList<>();

    /** What owners have said of targets before these were added, by number: whether for good. */
    private final Map<Integer, Boolean> saidEarly = new HashMap<>();

    private final Object meeting = new Object();
    private long bytes;
    private int users;
    private boolean disconnected;
    private volatile Link link = Link.UP;

    /** How often it has been cut: who finds another number than before has lost stores. */
    private volatile int cuts;

    private RemoteSegment(
            Descriptor descriptor,
            int node,
            int id,
            int adapter,
            Outlet.@Nullable Callback<SegmentEvent> callback) {
        this.descriptor = descriptor;
        this.member = descriptor.member();
        this.node = node;
        this.id = id;
        this.adapter = adapter;
        this.events = member.newOutlet(callback);
    }

    /** Connects, or refuses at once. In C: {@code SCIConnectSegment}. */
    public static RemoteSegment connect(
            Descriptor descriptor,
            int node,
            int id,
            int adapter,
            Outlet.@Nullable Callback<SegmentEvent> callback,
            int flags) {
        Refusal.when((flags & ~CONNECT_FLAGS) != 0, sisci_h.SCI_ERR_ILLEGAL_FLAG());
        var member = descriptor.member();
        member.checkAdapter(adapter);
        var toGroup = OwnSegment.has(flags, sisci_h.SCI_FLAG_BROADCAST());
        if (toGroup) {
            Refusal.when(
                    node != sisci_h.DIS_BROADCAST_NODEID_GROUP_ALL(),
                    sisci_h.SCI_ERR_ILLEGAL_NODEID());
        } else {
            member.checkNode(node);
        }
        var linkError = member.linkError(node, adapter);
        Refusal.when(linkError != 0, linkError);
        descriptor.add();
        try {
            var segment = new RemoteSegment(descriptor, node, id, adapter, callback);
            if (toGroup) {
                segment.meetGroup(member.entries());
                if (segment.targets.isEmpty()) {
                    segment.former.forEach(Target::close);
                    throw new Refusal(sisci_h.SCI_ERR_NO_SUCH_SEGMENT());
                }
            } else {
                var entry = member.findOrRefuse(node, Entry.Kind.SEGMENT, id);
                segment.add(Target.connect(member, segment, entry, false));
            }
            member.add(segment);
            segment.look(); // a link may have been cut meanwhile
            for (var target : segment.targets) {
                segment.lookWhetherClosed(target);
            }
            return segment;
        } catch (RuntimeException e) {
            descriptor.remove();
            throw e;
        }
    }

    /**
     * Connects to what is at an address of a node. There is no memory but segments here, which have
     * the addresses that they are said to have on the bus. In C: {@code SCIConnectSCISpace}.
     */
    public static RemoteSegment connectSpace(
            Descriptor descriptor, int node, int adapter, long address, long length, int flags) {
        Refusal.when(flags != 0, sisci_h.SCI_ERR_ILLEGAL_FLAG());
        var member = descriptor.member();
        member.checkAdapter(adapter);
        member.checkNode(node);
        var linkError = member.linkError(node, adapter);
        Refusal.when(linkError != 0, linkError);
        Refusal.when(length <= 0, sisci_h.SCI_ERR_SIZE_ALIGNMENT());
        var segment = connect(descriptor, node, member.findSpace(node, address), adapter, null, 0);
        if (segment.bytes() < length) {
            segment.disconnect();
            throw new Refusal(sisci_h.SCI_ERR_CONNECTION_REFUSED());
        }
        synchronized (segment) {
            segment.bytes = length;
        }
        return segment;
    }

    private boolean isGroup() {
        return node == sisci_h.DIS_BROADCAST_NODEID_GROUP_ALL();
    }

    private synchronized void add(Target target) {
        targets.add(target);
        bytes = bytes == 0 ? target.bytes() : Math.min(bytes, target.bytes());
        var forGood = saidEarly.remove(target.number());
        if (forGood != null) {
            gone(target.number(), forGood);
        }
        lookWhetherClosed(target);
    }

    /** Its owner may have ended before whoever tells of that found it here. */
    private void lookWhetherClosed(Target target) {
        if (target.connection().isClosed()) {
            lose(target, sisci_h.SCI_CB_LOST());
        }
    }

    /** Connects to those members of the group that it is not connected to yet. */
    private void meetGroup(List<Entry> entries) {
        synchronized (meeting) {
            for (var entry : entries) {
                var isMember = entry.kind() == Entry.Kind.SEGMENT && entry.number() == id;
                if (isMember
                        && targets.stream().noneMatch(target -> target.entry().equals(entry))
                        && member.linkError(entry.node(), adapter) == 0) {
                    try {
                        add(Target.connect(member, this, entry, true));
                    } catch (Refusal e) {
                        LOG.debug("{} is not in group {}: {}", entry, id, e.code());
                    }
                }
            }
        }
    }

    /** Links may have been cut or mended, and groups may have new members. */
    void look() {
        if (isGroup() && link == Link.UP) {
            meetGroup(member.entries());
        }
        synchronized (this) {
            if (link == Link.LOST) {
                return;
            }
            var linked = member.linkError(node, adapter) == 0;
            if (!linked && link == Link.UP) {
                link = Link.DOWN; // first, so that no check finds it well when stores are lost
                cuts++;
                targets.forEach(Target::cut);
                member.pump().renew(this);
                tell(sisci_h.SCI_CB_NOT_OPERATIONAL());
            } else if (linked && link == Link.DOWN) {
                targets.forEach(Target::mend);
                member.pump().renew(this);
                link = Link.UP;
                tell(sisci_h.SCI_CB_OPERATIONAL());
            }
            if (isGroup() && link == Link.UP) {
                lookAtEach();
            }
        }
    }

    private void lookAtEach() {
        for (var target : targets) {
            if (member.linkError(target.entry().node(), adapter) == 0) {
                target.mend();
            } else {
                target.cut();
            }
        }
    }

    /** The owner at the other end of a connection has ended. */
    void lost(Connection connection) {
        for (var target : targets) {
            if (target.connection() == connection) {
                lose(target, sisci_h.SCI_CB_LOST());
            }
        }
    }

    /** The owner wants it back, or has taken it back. */
    synchronized void gone(int number, boolean forGood) {
        var found = targets.stream().filter(target -> target.number() == number).findFirst();
        if (found.isEmpty()) {
            saidEarly.merge(number, forGood, Boolean::logicalOr);
        } else if (forGood) {
            lose(found.get(), sisci_h.SCI_CB_DISCONNECT());
        } else {
            tell(sisci_h.SCI_CB_DISCONNECT());
        }
    }

    private synchronized void lose(Target target, int reason) {
        if (isGroup()) {
            if (targets.remove(target)) {
                cuts++;
                target.lose();
                former.add(target);
            }
        } else if (link != Link.LOST) {
            link = Link.LOST;
            cuts++;
            target.lose();
            tell(reason);
        }
        member.removeTarget(target.number());
    }

    private void tell(int reason) {
        events.put(new SegmentEvent(reason, node, adapter));
    }

    /** The node that it is at. */
    public int node() {
        return node;
    }

    /** Its number there. */
    public int id() {
        return id;
    }

    int adapter() {
        return adapter;
    }

    Member member() {
        return member;
    }

    /** How large it is; of a group, the smallest member. */
    public synchronized long bytes() {
        return bytes;
    }

    /** What happens to it. */
    public Outlet<SegmentEvent> events() {
        return events;
    }

    Link link() {
        return link;
    }

    int cuts() {
        return cuts;
    }

    List<Target> targets() {
        return targets;
    }

    /** Whether loads and stores go to memory of this very node, past any link. */
    boolean isLoopback() {
        return node == member.node();
    }

    /** Where its memory begins, for queries. */
    public long address() {
        return targets.isEmpty() ? 0 : targets.getFirst().window().address();
    }

    /** Maps a part of it. In C: {@code SCIMapRemoteSegment}. */
    public SegmentMap map(long offset, long length, int flags) {
        return SegmentMap.ofRemote(this, offset, length, flags);
    }

    void unmap(Mapping mapping) {
        targets.getFirst().unmap(mapping);
    }

    /** Until {@link #release}, it cannot be disconnected. */
    synchronized void hold() {
        Refusal.when(disconnected, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        users++;
    }

    synchronized void release() {
        users--;
    }

    /** Ends it. In C: {@code SCIDisconnectSegment}. */
    public void disconnect() {
        synchronized (this) {
            Refusal.when(disconnected, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
            Refusal.when(users > 0, sisci_h.SCI_ERR_BUSY());
            disconnected = true;
        }
        member.remove(this);
        targets.forEach(target -> {
            member.removeTarget(target.number());
            target.close();
        });
        former.forEach(Target::close);
        events.close();
        descriptor.remove();
    }

    /** The process leaves the fabric: what it has mapped must not stay in the file. */
    void abandon() {
        targets.forEach(Target::lose);
    }

    @Override
    public String toString() {
        return "segment %s of node %d".formatted(Integer.toUnsignedString(id), node);
    }
}
