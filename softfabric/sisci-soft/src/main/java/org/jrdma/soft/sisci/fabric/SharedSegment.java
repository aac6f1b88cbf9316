package org.jrdma.soft.sisci.fabric;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Entry;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.host.Host;
import org.jrdma.soft.sisci.host.Mapping;
import org.jspecify.annotations.Nullable;

/** A segment that another process of this node has made and shared, whose state is over there. */
public final class SharedSegment implements LocalSegment {

    private final Descriptor descriptor;
    private final Member member;
    private final Connection owner;
    private final int number;
    private final int id;
    private final Outlet<SegmentEvent> events;
    private final List<SegmentMap> maps = new ArrayList<>();
    private int file;
    private long bytes;
    private @Nullable Mapping memory;
    private int users;
    private boolean lost;
    private boolean removed;

    private SharedSegment(
            Descriptor descriptor,
            Connection owner,
            int number,
            int id,
            Outlet<SegmentEvent> events) {
        this.descriptor = descriptor;
        this.member = descriptor.member();
        this.owner = owner;
        this.number = number;
        this.id = id;
        this.events = events;
    }

    /** Attaches to a segment. In C: {@code SCIAttachLocalSegment}. */
    public static SharedSegment attach(
            Descriptor descriptor,
            int id,
            Outlet.@Nullable Callback<SegmentEvent> callback,
            int flags) {
        Refusal.when(
                (flags & ~sisci_h.SCI_FLAG_USE_CALLBACK()) != 0, sisci_h.SCI_ERR_ILLEGAL_FLAG());
        var member = descriptor.member();
        var entry =
                member.find(member.node(), Entry.Kind.SEGMENT, id)
                        .orElseThrow(() -> new Refusal(sisci_h.SCI_ERR_NO_SUCH_SEGMENT()));
        var owner = member.connect(entry);
        var number = member.newNumber();
        descriptor.add();
        var segment = new SharedSegment(descriptor, owner, number, id, member.newOutlet(callback));
        member.add(number, segment); // what its owner says next must find it
        try {
            var answer =
                    member.ask(owner, Message.of(Message.Kind.ATTACH_SEGMENT, id, number, 0, 0));
            segment.take(member.openMemory(entry, answer.value()), answer.value());
            if (owner.isClosed()) { // and whoever told of that did not find the segment yet
                segment.lost();
            }
            return segment;
        } catch (RuntimeException e) {
            owner.send(Message.about(Message.Kind.DETACH_SEGMENT, number));
            member.removeShare(number);
            descriptor.remove();
            throw e;
        }
    }

    /** Its memory, opened when the owner had agreed: before, it could have been another's. */
    private synchronized void take(int openFile, long length) {
        try {
            memory = Mapping.of(openFile, 0, length, true);
            file = openFile;
            bytes = length;
            if (lost) {
                memory.cut();
            }
        } catch (FabricException e) {
            Host.close(openFile);
            throw Refusal.of(e);
        }
    }

    Connection owner() {
        return owner;
    }

    @Override
    public int id() {
        return id;
    }

    @Override
    public synchronized long bytes() {
        return bytes;
    }

    @Override
    public void step(Step step, int adapter, int flags) {
        member.ask(owner, Message.of(Message.Kind.SEGMENT_STEP, id, step.number(), adapter, flags));
    }

    @Override
    public synchronized SegmentMap map(long offset, long length, int flags) {
        var map = SegmentMap.ofLocal(this, file, offset, length, flags);
        maps.removeIf(SegmentMap::isUnmapped);
        maps.add(map);
        if (lost) {
            try {
                map.cut();
            } catch (FabricException e) {
                throw Refusal.of(e);
            }
        }
        return map;
    }

    @Override
    public Outlet<SegmentEvent> events() {
        return events;
    }

    @Override
    public synchronized long hold() {
        Refusal.when(removed || memory == null, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        users++;
        return memory.address();
    }

    @Override
    public synchronized void release() {
        users--;
    }

    /** The owner has removed it by force, or has ended. What is mapped of it reads as all ones. */
    synchronized void lost() {
        if (lost) {
            return;
        }
        lost = true;
        try {
            if (memory != null) {
                memory.cut();
            }
            for (var map : maps) {
                map.cut();
            }
        } catch (FabricException e) {
            throw Refusal.of(e);
        }
        events.put(new SegmentEvent(sisci_h.SCI_CB_LOST(), member.node(), 0));
    }

    @Override
    public void remove(int flags) {
        Refusal.when(
                (flags & ~sisci_h.SCI_FLAG_FORCE_REMOVE()) != 0, sisci_h.SCI_ERR_ILLEGAL_FLAG());
        synchronized (this) {
            Refusal.when(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
            Refusal.when(users > 0, sisci_h.SCI_ERR_BUSY());
            removed = true;
        }
        owner.send(Message.about(Message.Kind.DETACH_SEGMENT, number));
        letGo();
        member.removeShare(number);
        events.close();
        descriptor.remove();
    }

    private synchronized void letGo() {
        if (memory != null) {
            memory.close();
            Host.close(file);
        }
    }
}
