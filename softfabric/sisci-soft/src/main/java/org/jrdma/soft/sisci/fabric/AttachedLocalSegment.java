package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jrdma.soft.sisci.host.Mapping;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.jspecify.annotations.Nullable;

/**
 * A segment of another process of this node, to which this process has attached by {@code
 * SCIAttachLocalSegment}. Another process of this node owns the segment and its state.
 */
public final class AttachedLocalSegment
        implements LocalSegment, IncomingPeerMessageDispatcher.ConnectedObject {

    private final SciDescriptor descriptor;
    private final ProcessContext context;
    private final Connection owner;
    private final int number;
    private final int id;
    private final EventQueue<SegmentEvent> events;
    private final List<SegmentMap> maps = new ArrayList<>();
    private int file;
    private long bytes;
    private @Nullable Mapping memory;
    private int users;
    private boolean lost;
    private boolean removed;

    private AttachedLocalSegment(
            SciDescriptor descriptor,
            Connection owner,
            int number,
            int id,
            EventQueue<SegmentEvent> events) {
        this.descriptor = descriptor;
        this.context = descriptor.context();
        this.owner = owner;
        this.number = number;
        this.id = id;
        this.events = events;
    }

    /** Attaches to a segment. In C: {@code SCIAttachLocalSegment}. */
    public static AttachedLocalSegment attach(
            SciDescriptor descriptor,
            int id,
            EventQueue.@Nullable Callback<SegmentEvent> callback,
            int flags) {
        FlagChecks.checkAllowed(flags, SCI_FLAG_USE_CALLBACK());
        var context = descriptor.context();
        var fabric = context.fabric();
        var entry =
                fabric.find(fabric.node(), ObjectAnnouncementFile.Kind.SEGMENT, id)
                        .orElseThrow(() -> new SciException(SCI_ERR_NO_SUCH_SEGMENT()));
        var owner = fabric.connect(entry);
        var number = context.objects().newNumber();
        var events = new EventQueue<SegmentEvent>(context.callbacks(), callback);
        var segment = new AttachedLocalSegment(descriptor, owner, number, id, events);
        descriptor.add();
        try {
            // The segment is added before the request is sent, because messages from the owner may
            // follow the response.
            context.objects().add(number, owner, segment);
            segment.map(
                    fabric.requestMemory(owner, Message.of(Kind.ATTACH_SEGMENT, id, number, 0, 0)));
            // If the owner ended before the segment was added, lost(Connection) did not find the
            // segment.
            if (owner.isClosed()) {
                segment.lost();
            }
            return segment;
        } catch (Throwable e) {
            segment.closeFile();
            context.objects().remove(number);
            descriptor.remove();
            owner.send(Message.about(Kind.DETACH_SEGMENT, number));
            throw e;
        }
    }

    @Override
    public void received(Message message) {
        if (message.kind() == Kind.SEGMENT_EVENT) {
            events.put(new SegmentEvent(message.first(), message.second(), (int) message.value()));
        } else if (message.kind() == Kind.SEGMENT_GONE) {
            lost();
        }
    }

    @Override
    public void lost(Connection peer) {
        lost();
    }

    private synchronized void map(PeerLookupAndRequests.SharedMemory shared) {
        try {
            file = shared.descriptor();
            bytes = shared.bytes();
            memory = Mapping.of(file, 0, bytes, true);
            if (lost) {
                memory.cut();
            }
        } catch (FabricException e) {
            closeUnlessMapped(shared);
            throw SciException.of(e);
        } catch (RuntimeException | Error e) {
            closeUnlessMapped(shared);
            throw e;
        }
    }

    /**
     * Closes the file of a segment if the segment was not mapped. A mapped segment closes the file
     * itself.
     */
    private void closeUnlessMapped(PeerLookupAndRequests.SharedMemory shared) {
        if (memory == null) {
            SystemCalls.close(shared.descriptor());
        }
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
    public void apply(Operation operation, int adapter, int flags) {
        var _ =
                context.fabric()
                        .request(
                                owner,
                                Message.of(
                                        Kind.SEGMENT_OPERATION,
                                        id,
                                        operation.number(),
                                        adapter,
                                        flags));
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
                throw SciException.of(e);
            }
        }
        return map;
    }

    @Override
    public EventQueue<SegmentEvent> events() {
        return events;
    }

    @Override
    public synchronized long hold() {
        throwIf(removed || memory == null, SCI_ERR_ILLEGAL_PARAMETER());
        users++;
        return memory.address();
    }

    @Override
    public synchronized int file() {
        return file;
    }

    @Override
    public synchronized void release() {
        users--;
    }

    /**
     * Disconnects all maps from the memory and reports SCI_CB_LOST, because the owner has removed
     * the segment by force or has ended.
     */
    private synchronized void lost() {
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
            throw SciException.of(e);
        }
        events.put(new SegmentEvent(SCI_CB_LOST(), context.fabric().node(), 0));
    }

    @Override
    public void remove(int flags) {
        FlagChecks.checkAllowed(flags, SCI_FLAG_FORCE_REMOVE());
        synchronized (this) {
            throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
            throwIf(users > 0, SCI_ERR_BUSY());
            removed = true;
        }
        owner.send(Message.about(Kind.DETACH_SEGMENT, number));
        closeFile();
        context.objects().remove(number);
        events.close();
        descriptor.remove();
    }

    private synchronized void closeFile() {
        if (memory != null) {
            memory.close();
            SystemCalls.close(file);
        }
    }
}
