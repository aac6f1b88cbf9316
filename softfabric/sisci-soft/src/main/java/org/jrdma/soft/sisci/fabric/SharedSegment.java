package org.jrdma.soft.sisci.fabric;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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
    private final int file;
    private final long bytes;
    private final Mapping memory;
    private final Outlet<SegmentEvent> events;
    private final List<SegmentMap> maps = new CopyOnWriteArrayList<>();
    private int users;
    private boolean removed;

    private SharedSegment(
            Descriptor descriptor,
            Connection owner,
            int number,
            int id,
            int file,
            long bytes,
            Mapping memory,
            Outlet<SegmentEvent> events) {
        this.descriptor = descriptor;
        this.member = descriptor.member();
        this.owner = owner;
        this.number = number;
        this.id = id;
        this.file = file;
        this.bytes = bytes;
        this.memory = memory;
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
        var file = member.openMemory(entry);
        var number = member.newNumber();
        descriptor.add();
        try {
            var answer =
                    member.ask(owner, Message.of(Message.Kind.ATTACH_SEGMENT, id, number, 0, 0));
            var bytes = answer.value();
            var segment =
                    new SharedSegment(
                            descriptor,
                            owner,
                            number,
                            id,
                            file,
                            bytes,
                            Mapping.of(file, 0, bytes, true),
                            member.newOutlet(callback));
            member.add(number, segment);
            return segment;
        } catch (FabricException e) {
            giveUp(descriptor, owner, number, file);
            throw Refusal.of(e);
        } catch (RuntimeException e) {
            giveUp(descriptor, owner, number, file);
            throw e;
        }
    }

    private static void giveUp(Descriptor descriptor, Connection owner, int number, int file) {
        owner.send(Message.about(Message.Kind.DETACH_SEGMENT, number));
        Host.close(file);
        descriptor.remove();
    }

    Connection owner() {
        return owner;
    }

    @Override
    public int id() {
        return id;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void step(Step step, int adapter, int flags) {
        member.ask(owner, Message.of(Message.Kind.SEGMENT_STEP, id, step.number(), adapter, flags));
    }

    @Override
    public SegmentMap map(long offset, long length, int flags) {
        var map = SegmentMap.ofLocal(this, file, offset, length, flags);
        maps.add(map);
        return map;
    }

    @Override
    public Outlet<SegmentEvent> events() {
        return events;
    }

    @Override
    public synchronized long hold() {
        Refusal.when(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        users++;
        return memory.address();
    }

    @Override
    public synchronized void release() {
        users--;
    }

    /** The owner has removed it by force, or has ended. What is mapped of it reads as all ones. */
    void lost() {
        try {
            memory.cut();
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

    void letGo() {
        memory.close();
        Host.close(file);
    }
}
